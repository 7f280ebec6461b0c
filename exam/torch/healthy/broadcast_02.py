"""Quantile regression: the target is a column on purpose, and the model has a column for each quantile."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(40, 1)
y = (3 * x + torch.randn(40, 1)).squeeze(1)
quantiles = torch.tensor([0.1, 0.5, 0.9])

model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    error = y.unsqueeze(1) - model(x)
    loss = torch.maximum(quantiles * error, (quantiles - 1) * error).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert error.shape == (40, 3)
