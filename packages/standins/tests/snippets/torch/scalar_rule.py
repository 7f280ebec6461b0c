"""Backward needs one number, or a gradient of the same shape; errors are RuntimeErrors."""

import torch

x = torch.arange(3.0, requires_grad=True)
y = x * 2
try:
    y.backward()
except RuntimeError as error:
    print("RuntimeError:", bool(str(error)))
y.backward(torch.ones_like(y))
print(x.grad)
try:
    y.backward(torch.ones_like(y))
except RuntimeError as error:
    print("a second time:", type(error).__mro__[-4:-1].count(RuntimeError))
z = (x * x).sum()
z.backward(retain_graph=True)
z.backward()
print(x.grad)
one = (x[1:2] * 5).reshape(1, 1)
print(one.shape, one)
one.backward()
print(x.grad)
try:
    torch.ones(3).sum().backward()
except RuntimeError:
    print("nothing requires a gradient")
try:
    (x * x).backward(torch.ones(4))
except RuntimeError:
    print("a gradient of another shape")
try:
    torch.tensor([1, 2], requires_grad=True)
except RuntimeError:
    print("integers have no gradient")
