"""A tensor that requires a gradient, a result, and what backward leaves behind."""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
y = torch.tensor([6.0, 4.0], requires_grad=True)
print(x)
q = 3 * x**3 - y**2
print(q)
print(q.requires_grad, q.is_leaf, x.is_leaf)
q.backward(gradient=torch.tensor([1.0, 1.0]))
print(x.grad, y.grad)
print(9 * x**2 == x.grad)
print(-2 * y == y.grad)

z = x.mean()
print(z, z.grad_fn is not None, x.grad_fn)
z.backward()
print(x.grad)
