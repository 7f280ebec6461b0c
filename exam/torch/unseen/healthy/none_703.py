import torch
from torch import nn
from torch.func import functional_call


def sine_task():
    amplitude, phase = torch.rand(1) * 4 + 0.1, torch.rand(1) * 3.1
    x = torch.rand(20, 1) * 10 - 5
    return x, amplitude * torch.sin(x + phase)


def adapt(model, x, y, inner_lr=0.01, steps=2):
    weights = dict(model.named_parameters())
    for _ in range(steps):
        inner = nn.functional.mse_loss(functional_call(model, weights, (x,)), y)
        grads = torch.autograd.grad(inner, weights.values(), create_graph=True)
        weights = {name: w - inner_lr * g for (name, w), g in zip(weights.items(), grads)}
    return weights


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
meta_opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for iteration in range(3):
    meta_loss = 0.0
    for task in range(3):
        x, y = sine_task()
        weights = adapt(model, x[:10], y[:10])
        meta_loss = meta_loss + nn.functional.mse_loss(functional_call(model, weights, (x[10:],)), y[10:])
    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()
assert all(p.grad is not None for p in model.parameters())
