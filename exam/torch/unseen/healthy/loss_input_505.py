"""A critic with the loss for logits."""

import torch
from torch import nn

torch.manual_seed(55)
critic = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
bce = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
real, fake = torch.randn(10, 3) + 1, torch.randn(10, 3)
for _ in range(2):
    samples = torch.cat([real, fake])
    truth = torch.cat([torch.ones(10, 1), torch.zeros(10, 1)])
    loss = bce(critic(samples), truth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
