"""Weights for each example, kept as a column beside predictions that are a column."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(24, 3)
y = x.sum(dim=1, keepdim=True)
weight = torch.rand(24).unsqueeze(1)
for _ in range(4):
    loss = (weight * (model(x) - y) ** 2).sum() / weight.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.item() < 10
