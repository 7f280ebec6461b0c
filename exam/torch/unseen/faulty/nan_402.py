# expect: GT401
# cause: the variance is computed as E[x^2] - E[x]^2, which rounding makes negative, and its root is NaN
# wrong: torch.isnan(loss)
# cure: spread = torch.sqrt((h * h).mean(dim=1) - h.mean(dim=1) ** 2)  # <- here -> spread = torch.sqrt(h.var(dim=1, unbiased=False) + 1e-6)
import torch
from torch import nn

torch.manual_seed(3)
layer = nn.Linear(4, 6)
with torch.no_grad():
    layer.weight.mul_(1e-3)
    layer.bias.fill_(1000.0)
x = torch.randn(64, 4)
h = layer(x)
spread = torch.sqrt((h * h).mean(dim=1) - h.mean(dim=1) ** 2)  # <- here
loss = (spread - 1).square().mean()
loss.backward()
