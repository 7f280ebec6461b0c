"""Writing in place: what is allowed, what is not, and what is noticed when the gradient is taken."""

import torch

x = torch.ones(3, requires_grad=True)
try:
    x.add_(1)
except RuntimeError:
    print("a leaf cannot be written to")
try:
    x[0] = 5.0
except RuntimeError:
    print("not through an index either")
with torch.no_grad():
    x -= 0.5
print(x)
y = x * 2
y += 1
print(y)
y.mul_(x)
y.sum().backward()
print(x.grad)

a = torch.ones(3, requires_grad=True)
b = a * 2
c = b**2
b += 1
try:
    c.sum().backward()
except RuntimeError:
    print("b was needed for the gradient of c")

s = (a * 3).sigmoid()
s.mul_(2)
try:
    s.sum().backward()
except RuntimeError:
    print("the result of sigmoid was needed")

t = torch.zeros(2, 3)
t[0] = a * 2
t[1, 1:] = a[:2] ** 2
print(t)
t.sum().backward()
print(a.grad)
