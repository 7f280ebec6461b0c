"""A sequence of segments under checkpoint_sequential, with dropout that must be the same in both passes."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

torch.manual_seed(0)
model = nn.Sequential(*[nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Dropout(0.1)) for _ in range(4)])
head = nn.Linear(6, 1)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05)
x, y = torch.randn(10, 6), torch.randn(10, 1)
for step in range(3):
    h = checkpoint_sequential(model, 2, x, use_reentrant=False)
    loss = nn.functional.mse_loss(head(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad is not None for p in model.parameters())
