"""Numbers leave for a scheduler, a running mean and a dynamic loss weight that is meant to be a constant."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 5), torch.randn(40, 1)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
average = None
for epoch in range(12):
    prediction = model(x)
    fit = nn.functional.mse_loss(prediction, y)
    size = prediction.abs().mean()
    weight = fit.item() / max(size.item(), 1e-6)
    loss = fit + 0.01 * weight * size
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = loss.item() if average is None else 0.9 * average + 0.1 * loss.item()
    scheduler.step(average)
assert average < 5
assert all(p.grad is not None for p in model.parameters())
