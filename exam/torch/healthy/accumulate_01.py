"""Gradients of four small batches are accumulated on purpose, then one step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 6)
y = x.sum(dim=1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
accumulation_steps = 4

for epoch in range(6):
    optimizer.zero_grad()
    for i, (inputs, target) in enumerate(loader):
        loss = nn.functional.mse_loss(model(inputs), target) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
assert nn.functional.mse_loss(model(x), y) < 0.05
