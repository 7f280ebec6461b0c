import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 9), nn.Sigmoid(), nn.ReLU(), nn.Linear(9, 1))
x, y = torch.randn(12, 5), torch.randn(12, 1)
loss = (model(x) - y).abs().mean()
loss.backward()
assert torch.isfinite(loss)
