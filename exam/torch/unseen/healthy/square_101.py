"""As many examples as features: matrices are square by accident, and nothing is wrong."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(8, 8), torch.randn(8, 8)
model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 8))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scale = torch.ones(8)
for _ in range(10):
    out = model(x) * scale
    loss = ((out - y) ** 2).mean(dim=1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
