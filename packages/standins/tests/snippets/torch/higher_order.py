"""Gradients of gradients."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**4
(first,) = torch.autograd.grad(y, x, create_graph=True)
print(first)
(second,) = torch.autograd.grad(first, x, create_graph=True)
print(second)
(third,) = torch.autograd.grad(second, x)
print(third)

w = torch.tensor([1.0, -2.0], requires_grad=True)
loss = (w**3).sum()
(gradient,) = torch.autograd.grad(loss, w, create_graph=True)
penalty = gradient.norm()
print(penalty)
penalty.backward()
print(w.grad)

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(2.0, requires_grad=True)
print(torch.autograd.grad(a * 3, [a, b], allow_unused=True))
try:
    torch.autograd.grad(a * 3, [a, b])
except RuntimeError:
    print("b was not used")
z = (a * b).sin()
z.backward(create_graph=True)
print(a.grad)
a.grad.backward()
print(b.grad.detach())
