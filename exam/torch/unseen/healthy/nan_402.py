import torch
from torch import nn

torch.manual_seed(3)
layer = nn.Linear(4, 6)
with torch.no_grad():
    layer.weight.mul_(1e-3)
    layer.bias.fill_(1000.0)
x = torch.randn(64, 4)
h = layer(x)
spread = torch.sqrt(h.var(dim=1, unbiased=False) + 1e-6)
loss = (spread - 1).square().mean()
loss.backward()
assert torch.isfinite(loss)
