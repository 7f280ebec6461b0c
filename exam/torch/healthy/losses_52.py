"""Two backward passes through one graph with retain_graph, to look at the size of each loss's gradient."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(18, 4)
for step in range(3):
    out = net(x)
    losses = {"fit": (out[:, 0] - x[:, 0]).pow(2).mean(), "sparse": out[:, 1].abs().mean()}
    norms = {}
    for name, value in losses.items():
        grads = torch.autograd.grad(value, list(net.parameters()), retain_graph=True)
        norms[name] = torch.sqrt(sum(g.pow(2).sum() for g in grads)).item()
    total = sum(value / (norms[name] + 1e-8) for name, value in losses.items())
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
assert all(value > 0 for value in norms.values())
