"""Missing inputs and targets: NaN is replaced before the network and masked before the loss."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    raw = torch.randn(20, 4)
    raw[torch.rand(20, 4) < 0.2] = float("nan")
    missing = raw.isnan()
    x = torch.cat([torch.nan_to_num(raw, nan=0.0), missing.float()], dim=1)
    y = torch.randn(20, 2)
    y[torch.rand(20, 2) < 0.3] = float("nan")
    known = ~y.isnan()
    target = torch.where(known, y, torch.zeros_like(y))
    loss = ((net(x) - target).square() * known).sum() / known.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
