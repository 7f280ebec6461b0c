"""A few dead units among many, and a hinge loss that most examples satisfy: partly zero gradients are usual."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 20), nn.ReLU(), nn.Linear(20, 1))
with torch.no_grad():
    net[0].bias[:3] = -50
x = torch.randn(50, 2)
y = torch.sign(x[:, 0] + 0.2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(40):
    margin = y * net(x).squeeze(1)
    loss = torch.clamp(1 - margin, min=0).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.item() < 0.6
