"""WGAN-GP with create_graph: the penalty is differentiated, the sample is a leaf of each step."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(14):
    points = torch.randn(20, 4, requires_grad=True)
    slopes = torch.autograd.grad(critic(points).sum(), points, create_graph=True)[0]
    penalty = ((slopes.norm(dim=1) - 1) ** 2).mean()
    opt.zero_grad()
    penalty.backward()
    opt.step()
assert torch.isfinite(penalty)
