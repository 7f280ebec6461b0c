# expect: GT210 or GT312
# cause: NumPy's mean is taken of a tensor that requires a gradient, which has to leave the graph for that
# wrong: raises RuntimeError
# cure: np.mean(errors.numpy()) -> errors.mean()
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
errors = (model(x) - y).abs()
loss = np.mean(errors.numpy())  # <- here
loss.backward()
