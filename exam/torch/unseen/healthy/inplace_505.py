"""Statistics of a copy of the activations."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(46)
layer = nn.Linear(4, 3)
readout = nn.Linear(3, 1)
x, y = torch.randn(25, 4), torch.randn(25, 1)
statistics = []


def log_activity(hidden):
    activity = hidden.detach().numpy().copy()
    activity -= activity.mean(axis=0)
    statistics.append(np.abs(activity).max())


expected = torch.autograd.grad(nn.functional.mse_loss(readout(torch.tanh(layer(x))), y), layer.weight)[0]
hidden = torch.tanh(layer(x))
loss = nn.functional.mse_loss(readout(hidden), y)
log_activity(hidden)
loss.backward()
assert torch.allclose(layer.weight.grad, expected, atol=1e-5)
