"""Levels that are trained as numbers and stored as integers."""

import torch
from torch import nn

torch.manual_seed(12)
signal = torch.rand(16, 20)
compressor = nn.Sequential(nn.Linear(20, 10), nn.Sigmoid())
optimizer = torch.optim.SGD(compressor.parameters(), lr=0.1)
wanted = torch.randint(0, 16, (16, 10)).float()


def quantised(batch):
    levels = compressor(batch)
    return levels * 15


for _ in range(3):
    codes = quantised(signal)
    loss = (codes - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
stored = codes.detach().long()
assert stored.dtype == torch.int64
assert loss.isfinite()
