import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.RNNCell(3, 8), nn.Linear(8, 1)
x, y = torch.randn(4, 9, 3), torch.randn(4, 1)
h = torch.zeros(4, 8)
for t in range(9):
    h = cell(x[:, t], h)
loss = (readout(h) - y).square().mean()
loss.backward()
assert cell.weight_hh.grad.any()
