"""A scale that is cast before it becomes a Parameter."""

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.scale = nn.Parameter(torch.ones(6, dtype=torch.float64).float())

    def forward(self, x):
        return self.linear(x) * self.scale


torch.manual_seed(24)
layer = ScaledLinear()
optimizer = torch.optim.Adagrad(layer.parameters(), lr=0.05)
x, y = torch.randn(14, 6), torch.randn(14, 6)
for _ in range(4):
    loss = (layer(x) - y).pow(2).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (len(list(layer.parameters())) == 2)
