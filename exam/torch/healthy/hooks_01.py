"""Hooks that look at activations and gradients, and one that scales a gradient on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
seen = {}
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
model[1].register_forward_hook(lambda module, args, output: seen.__setitem__("activation", output.detach()))
model[2].register_full_backward_hook(lambda module, gi, go: seen.__setitem__("norm", go[0].norm().item()))

x, y = torch.randn(10, 4), torch.randn(10, 1)
hidden = model[1](model[0](x))
handle = hidden.register_hook(lambda g: 0.5 * g)
loss = nn.functional.mse_loss(model[2](hidden), y)
loss.backward()
handle.remove()
assert seen["activation"].shape == (10, 6)
assert seen["norm"] > 0
