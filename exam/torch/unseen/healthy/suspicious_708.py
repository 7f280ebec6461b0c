"""An ensemble by vmap: parameters of four models are stacked, and one call gives the predictions of all."""

import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1)) for _ in range(4)]
params, buffers = stack_module_state(models)
skeleton = copy.deepcopy(models[0]).to("meta")
optimizer = torch.optim.Adam(params.values(), lr=1e-2)


def predict(p, b, x):
    return functional_call(skeleton, (p, b), (x,)).squeeze(-1)


x = torch.randn(24, 3)
y = x.sum(dim=1).sin()
for step in range(4):
    each = vmap(predict, in_dims=(0, 0, None))(params, buffers, x)
    loss = (each - y).square().mean(dim=1).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert each.shape == (4, 24)
