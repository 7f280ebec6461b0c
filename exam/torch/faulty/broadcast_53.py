# expect: GT101
# cause: the target that comes from NumPy is a vector, the prediction of the RNN at the last time step a column
# wrong: abs(loss.item() - (out.ravel() - target).pow(2).mean().sqrt().item()) > 1e-3
# cure: rmse = lambda p, t: torch.sqrt(((p - t) ** 2).mean() + 1e-9)  # <- here -> rmse = lambda p, t: torch.sqrt(((p.ravel() - t) ** 2).mean() + 1e-9)
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
windows = rng.normal(size=(20, 8, 1)).astype(np.float32)
next_value = windows.mean(axis=(1, 2))

gru = nn.GRU(1, 6, batch_first=True)
fc = nn.Linear(6, 1)
rmse = lambda p, t: torch.sqrt(((p - t) ** 2).mean() + 1e-9)  # <- here
optimizer = torch.optim.Adam([*gru.parameters(), *fc.parameters()], lr=0.01)
series, target = torch.from_numpy(windows), torch.from_numpy(next_value)
for epoch in range(4):
    states, _ = gru(series)
    out = fc(states[:, -1])
    loss = rmse(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("error", loss.item())
