import torch
from torch import nn

torch.manual_seed(0)
heads = nn.Linear(6, 6)
x = torch.randn(5, 4, 6)
merged = heads(x).transpose(1, 2).reshape(5, 24)
loss = merged.square().mean()
loss.backward()
assert merged.shape == (5, 24)
