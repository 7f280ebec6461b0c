# expect: GT514 or GT404
# cause: all weights of the recurrent cell are set to the same number, so that its units stay copies of each other
# wrong: torch.allclose(cell.weight_hh[0], cell.weight_hh[1])
# cure: nn.init.constant_(p, 0.05) -> nn.init.uniform_(p, -0.2, 0.2)
import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.RNNCell(2, 8), nn.Linear(8, 1)
for p in [*cell.parameters(), *readout.parameters()]:
    nn.init.constant_(p, 0.05)  # <- here
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=1e-2)  # <- asked
for step in range(4):
    x = torch.rand(16, 10, 2)
    target = (x[:, :, 0] * x[:, :, 1]).sum(dim=1, keepdim=True)
    state = torch.zeros(16, 8)
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)  # <- here
    loss = nn.functional.mse_loss(readout(state), target)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
