"""Gradients through a step of gradient descent."""

import torch
from torch.func import functional_call, grad, vmap

w = torch.tensor([1.0, 2.0], requires_grad=True)
x, y = torch.tensor([[1.0, 2.0], [3.0, 1.0]]), torch.tensor([1.0, 0.0])
loss = ((x @ w - y) ** 2).mean()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
fast = w - 0.01 * g
outer = ((x @ fast - y) ** 2).mean()
outer.backward()
print(w.grad, outer)
model = torch.nn.Linear(2, 1)
params = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}


def f(p, x):
    return functional_call(model, p, (x,)).sum()


print(grad(f)(params, x))
print(vmap(grad(f), in_dims=(None, 0))(params, x)["weight"])


def inner(p):
    g = grad(f)(p, x)
    return f({k: p[k] - 0.1 * g[k] for k in p}, x)


print(grad(inner)(params))
