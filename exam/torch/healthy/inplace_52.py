"""Projected gradient descent: the parameter is clamped in place under no_grad after each step."""

import torch

torch.manual_seed(0)
A, target = torch.randn(12, 5), torch.randn(12)
weights = torch.full((5,), 0.2, requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=0.02)
for step in range(40):
    loss = (A @ weights - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        weights.clamp_(min=0)
        weights /= weights.sum().clamp(min=1e-9)
assert weights.min() >= 0
assert torch.isclose(weights.sum(), torch.tensor(1.0))
