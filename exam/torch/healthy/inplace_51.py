"""Rows of a fresh buffer are filled once each, before anything reads them."""

import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.GRUCell(2, 5), nn.Linear(5, 1)
series = torch.randn(7, 3, 2)
state = torch.zeros(3, 5)
outputs = torch.empty(7, 3, 1)
for t, x in enumerate(series):
    state = cell(x, state)
    outputs[t] = readout(state)
loss = outputs.pow(2).mean()
loss.backward()
assert all(p.grad is not None for p in cell.parameters())
assert readout.weight.grad.any()
