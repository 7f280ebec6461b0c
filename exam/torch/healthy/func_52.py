"""Model-agnostic meta-learning: the inner step keeps its graph, parameters are passed as a dictionary."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-2)
for iteration in range(3):
    meta_loss = 0.0
    for task in range(2):
        phase = torch.rand(1) * 3
        x = torch.rand(10, 1) * 4
        y = torch.sin(x + phase)
        params = dict(model.named_parameters())
        inner = nn.functional.mse_loss(functional_call(model, params, (x[:5],)), y[:5])
        grads = torch.autograd.grad(inner, list(params.values()), create_graph=True)
        fast = {name: p - 0.1 * g for (name, p), g in zip(params.items(), grads)}
        meta_loss = meta_loss + nn.functional.mse_loss(functional_call(model, fast, (x[5:],)), y[5:])
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
assert all(p.grad is not None for p in model.parameters())
