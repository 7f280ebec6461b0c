# expect: GT101
# cause: the mean of the predicted normal distribution is a column and y a vector, so log_prob is (36, 36)
# wrong: log_likelihood.shape == (36, 36)
# cure: dist.log_prob(y) -> dist.log_prob(y.unsqueeze(1))
import torch
from torch import nn
from torch.distributions import Normal


class Heteroscedastic(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(2, 20), nn.SiLU())
        self.mean = nn.Linear(20, 1)
        self.log_scale = nn.Linear(20, 1)

    def forward(self, x):
        h = self.shared(x)
        return Normal(self.mean(h), self.log_scale(h).exp())


torch.manual_seed(0)
x = torch.randn(36, 2)
y = x[:, 0] ** 2 + 0.1 * torch.randn(36)
model = Heteroscedastic()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    dist = model(x)
    log_likelihood = dist.log_prob(y)  # <- here
    loss = -log_likelihood.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
