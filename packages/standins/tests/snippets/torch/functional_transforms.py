"""torch.func: functions in, functions out."""

import torch
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap


def loss(w, x, y):
    return ((x @ w - y) ** 2).mean()


w = torch.tensor([1.0, -1.0])
x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
y = torch.tensor([1.0, 0.0, -1.0])
print(grad(loss)(w, x, y))
print(grad_and_value(loss)(w, x, y))
print(grad(loss, argnums=(0, 2))(w, x, y))
print(vmap(grad(loss), in_dims=(None, 0, 0))(w, x, y))
print(jacrev(torch.sin)(w), jacfwd(torch.sin)(w))
print(hessian(lambda v: (v**3).prod())(w))
value, pull = vjp(torch.exp, w)
print(value, pull(torch.ones(2)))
print(jvp(torch.exp, (w,), (torch.tensor([1.0, 0.0]),)))
print(grad(grad(torch.sin))(torch.tensor(0.5)))
print(vmap(torch.dot)(x, x), vmap(lambda a, b: a * b, in_dims=(0, None))(y, w).shape)
print(grad(lambda p: p["a"] * p["b"] ** 2)({"a": torch.tensor(2.0), "b": torch.tensor(3.0)}))
model = torch.nn.Linear(2, 1)
parameters = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([0.5])}
print(functional_call(model, parameters, (x,)))


def model_loss(parameters, example, target):
    return ((functional_call(model, parameters, (example,)) - target) ** 2).sum()


per_sample = vmap(grad(model_loss), in_dims=(None, 0, 0))(parameters, x, y)
print(per_sample["weight"], per_sample["bias"].shape)
