"""The loss changes after some steps: another term joins, with a parameter of its own that had no gradient before."""

import torch
from torch import nn

torch.manual_seed(0)
x, y, z = torch.randn(40, 4), torch.randn(40, 1), torch.randn(40, 2)
body, first, second = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 2)
opt = torch.optim.Adam([*body.parameters(), *first.parameters(), *second.parameters()], lr=1e-2)
for step in range(24):
    code = torch.tanh(body(x))
    loss = (first(code) - y).square().mean()
    if step >= 5:
        loss = loss + (second(code) - z).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert second.weight.grad is not None
