import torch
from torch import nn

torch.manual_seed(0)
sigma = torch.tensor([0.5, 2.0, 120.0])
raw = sigma + torch.log(-torch.expm1(-sigma))
scale = nn.Parameter(torch.ones(3))
loss = (scale * raw).square().mean()
loss.backward()
assert torch.isfinite(loss)
