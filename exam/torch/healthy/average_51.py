"""Stochastic weight averaging with torch's own AveragedModel."""

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel

torch.manual_seed(0)
x, y = torch.randn(40, 4), torch.randn(40, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
swa_model = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
swa_scheduler = SWALR(optimizer, swa_lr=0.02)
for epoch in range(8):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    if epoch > 3:
        swa_model.update_parameters(model)
        swa_scheduler.step()
with torch.no_grad():
    value = nn.functional.mse_loss(swa_model(x), y)
assert torch.isfinite(value)
assert swa_model.n_averaged == 4
