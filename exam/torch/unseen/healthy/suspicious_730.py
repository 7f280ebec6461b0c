"""Implicit quantile network: taus of each example meet the targets of each, by unsqueeze on both sides; target without graph."""

import copy

import torch
from torch import nn


class Quantiles(nn.Module):
    def __init__(self, n=7):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2 * n))
        self.n = n

    def forward(self, s):
        return self.net(s).view(-1, 2, self.n)


torch.manual_seed(0)
online = Quantiles()
target = copy.deepcopy(online).eval()
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
tau = (torch.arange(7) + 0.5) / 7
for step in range(4):
    s, a, r, s2 = torch.randn(7, 4), torch.randint(0, 2, (7,)), torch.randn(7, 1), torch.randn(7, 4)
    with torch.no_grad():
        following = target(s2)
        goal = r + 0.99 * following[torch.arange(7), following.mean(-1).argmax(1)]
    current = online(s)[torch.arange(7), a]
    error = goal.unsqueeze(1) - current.unsqueeze(2)
    huber = torch.where(error.abs() < 1, 0.5 * error**2, error.abs() - 0.5)
    loss = ((tau.view(1, -1, 1) - (error.detach() < 0).float()).abs() * huber).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    target.load_state_dict({k: 0.1 * online.state_dict()[k] + 0.9 * v for k, v in target.state_dict().items()})
assert error.shape == (7, 7, 7)
