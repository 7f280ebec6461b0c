"""Accumulation over four batches in a long run: a step every fourth backward pass."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for index in range(48):
    x = torch.randn(8, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean() / 4
    loss.backward()
    if index % 4 == 3:
        opt.step()
        opt.zero_grad()
assert loss.isfinite()
