"""Stochastic depth: a block that is skipped in a step has no gradient in that step."""

import torch
from torch import nn


class DropPath(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        for block in self.blocks:
            if not self.training or torch.rand(()) < 0.6:
                x = x + torch.tanh(block(x))
        return self.head(x)


torch.manual_seed(0)
model = DropPath(5, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(15, 5), torch.randn(15, 1)
skipped = 0
for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    skipped += sum(block.weight.grad is None for block in model.blocks)
    optimizer.step()
assert skipped > 0
