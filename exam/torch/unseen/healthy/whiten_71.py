"""Features are standardised per column on a square batch: the mean over the examples keeps no axis, as it should."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(10, 10) * 3 + 1
x = (x - x.mean(dim=0)) / x.std(dim=0)
net = nn.Linear(10, 10)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    h = net(x)
    h = (h - h.mean(dim=0)) / (h.var(dim=0) + 1e-5).sqrt()
    covariance = h.T @ h / 10
    loss = (covariance - torch.eye(10)).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert covariance.shape == (10, 10)
