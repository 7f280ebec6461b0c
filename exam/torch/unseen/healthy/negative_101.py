"""relu as the last layer of a model of counts, which are positive: some outputs are zero, and not all."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 4)
y = torch.relu(x.sum(1, keepdim=True)) * 2
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1), nn.ReLU())
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
