"""Vector-Jacobian products, Jacobians and Hessians."""

import torch
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
y = x * 2
while y.data.norm() < 50:
    y = y * 2
print(y)
v = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
y.backward(v)
print(x.grad)


def f(t):
    return t.exp() * t


def g(t):
    return (t**3).sum()


point = torch.tensor([0.0, 1.0])
print(jacobian(f, point))
print(hessian(g, point))
print(vjp(f, point, torch.ones(2)))
print(jvp(f, point, torch.tensor([1.0, 0.0])))
print(hvp(g, point, torch.ones(2)))
print(vhp(g, point, torch.ones(2)))
print(jacobian(lambda a, b: a * b.sum(), (point, torch.tensor([2.0, 3.0]))))
