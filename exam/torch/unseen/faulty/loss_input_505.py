# expect: GT509
# cause: BCELoss takes probabilities and is given the raw scores of the critic
# wrong: raises RuntimeError
# cure: bce = nn.BCELoss() -> bce = nn.BCEWithLogitsLoss()
import torch
from torch import nn

torch.manual_seed(55)
critic = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
bce = nn.BCELoss()  # <- here
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
real, fake = torch.randn(10, 3) + 1, torch.randn(10, 3)
for _ in range(2):
    samples = torch.cat([real, fake])
    truth = torch.cat([torch.ones(10, 1), torch.zeros(10, 1)])
    loss = bce(critic(samples), truth)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
