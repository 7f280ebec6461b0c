"""Reshapes of data that only split and join axes, and in-place activations on values that no gradient needs."""

import torch
from torch import nn

torch.manual_seed(0)
signal = torch.arange(96.0).reshape(4, 24)
windows = signal.reshape(4, 6, 4).transpose(1, 2).reshape(16, 6)
images = torch.randn(5, 8, 8, 3).permute(0, 3, 1, 2)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 1))
head = nn.Linear(6, 1)
opt = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)
for _ in range(3):
    loss = model(images).square().mean() + head(windows / 96).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
