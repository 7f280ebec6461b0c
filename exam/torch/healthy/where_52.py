"""Missing values in the targets: NaNs are left out by a boolean index before any arithmetic."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(30, 4)
y = x @ torch.randn(4, 2)
y[torch.rand(30, 2) < 0.3] = float("nan")
known = ~torch.isnan(y)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(20):
    loss = nn.functional.smooth_l1_loss(model(x)[known], y[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
