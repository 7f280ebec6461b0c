"""Sharpness-aware minimisation: two backward passes for each step, with the gradient cleared between."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(30, 4), torch.randn(30, 1)
rho = 0.05


def loss_of():
    return nn.functional.mse_loss(model(x), y)


for step in range(5):
    loss_of().backward()
    with torch.no_grad():
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in model.parameters())) + 1e-12
        shifts = [rho * p.grad / norm for p in model.parameters()]
        for p, shift in zip(model.parameters(), shifts):
            p.add_(shift)
    optimizer.zero_grad()
    loss = loss_of()
    loss.backward()
    with torch.no_grad():
        for p, shift in zip(model.parameters(), shifts):
            p.sub_(shift)
    optimizer.step()
    optimizer.zero_grad()
assert torch.isfinite(loss)
