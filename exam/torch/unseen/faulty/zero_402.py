# expect: GT404
# cause: the state is set to zero inside of the loop over time, so that the recurrent weights multiply zeros only
# wrong: not cell.weight_hh.grad.any()
# cure: for t in range(9):\n    h = torch.zeros(4, 8)  # <- here -> h = torch.zeros(4, 8)\nfor t in range(9):
import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.RNNCell(3, 8), nn.Linear(8, 1)
x, y = torch.randn(4, 9, 3), torch.randn(4, 1)
for t in range(9):
    h = torch.zeros(4, 8)  # <- here
    h = cell(x[:, t], h)  # <- here
loss = (readout(h) - y).square().mean()
loss.backward()  # <- asked
