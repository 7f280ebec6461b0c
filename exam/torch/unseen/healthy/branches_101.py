"""The number of terms of the loss differs from batch to batch, and is zero for some."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
steps = 0
for index in range(20):
    x = torch.randn(6, 3)
    chosen = x[x[:, 0] > 0.5] if index % 3 else x[:0]
    if len(chosen) == 0:
        continue
    loss = (model(chosen) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    steps += 1
assert steps > 3
