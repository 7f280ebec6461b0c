"""Statistics of the first batch set the weights (data-dependent initialisation), then training as usual."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 4) * 3 + 1, torch.randn(40, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
with torch.no_grad():
    out = model[0](x)
    model[0].weight.div_(out.std(0)[:, None])
    model[0].bias.sub_(out.mean(0)).div_(out.std(0))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(12):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
