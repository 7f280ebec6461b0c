"""Weighted losses of the examples, averaged."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(41)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(18, 5), torch.randint(0, 2, (18,)).float()
weights = torch.where(y > 0, 3.0, 1.0)
for _ in range(3):
    logits = model(x)[:, 0]
    per_example = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
    loss = (per_example * weights).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
