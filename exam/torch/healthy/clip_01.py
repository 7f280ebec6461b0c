"""Clipping by norm between backward and step, with a learning rate schedule."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = 5 * torch.randn(40, 3), torch.randn(40, 1)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
for step in range(10):
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    scheduler.step()
assert scheduler.get_last_lr()[0] < 1e-3
assert torch.isfinite(norm)
