"""Hooks on tensors and modules in a loop of many steps, removed in the middle."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randn(30, 1)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
norms = []
handle = model[0].weight.register_hook(lambda g: norms.append(g.norm().item()))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(20):
    if step == 12:
        handle.remove()
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert len(norms) == 12
