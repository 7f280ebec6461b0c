import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
errors = (model(x) - y).abs()
loss = errors.mean()
loss.backward()
assert model.weight.grad is not None
