import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.RNNCell(2, 8), nn.Linear(8, 1)
for p in [*cell.parameters(), *readout.parameters()]:
    nn.init.uniform_(p, -0.2, 0.2)
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=1e-2)
for step in range(4):
    x = torch.rand(16, 10, 2)
    target = (x[:, :, 0] * x[:, :, 1]).sum(dim=1, keepdim=True)
    state = torch.zeros(16, 8)
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)
    loss = nn.functional.mse_loss(readout(state), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not torch.allclose(cell.weight_hh[0], cell.weight_hh[1])
