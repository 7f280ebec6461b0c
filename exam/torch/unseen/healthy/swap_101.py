"""Axes are swapped with transpose and permute, and a reshape splits and joins neighbours only."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(9, 6, 4)
heads = x.transpose(0, 1).reshape(6, 9, 2, 2).permute(0, 2, 1, 3)
layer = nn.Linear(2, 3)
out = layer(heads).permute(0, 2, 1, 3).reshape(6, 9, 6)
loss = out.square().mean()
loss.backward()
assert out.shape == (6, 9, 6)
