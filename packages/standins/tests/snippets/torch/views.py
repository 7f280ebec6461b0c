"""Views share their numbers with the tensor they look at; gradients go through writes to them."""

import numpy as np
import torch

t = torch.zeros(3, 4)
row = t[1]
row += 5
print(t)
t.view(-1)[0] = 7
print(row, t[0, 0])
flipped = t.t()
flipped[3, 2] = -1
print(t)
column = t[:, 0]
t.fill_(2.0)
print(column, row)

w = torch.ones(4, requires_grad=True)
v = w * 1
half = v[2:]
half.mul_(3)
print(v)
(v**2).sum().backward()
print(w.grad)

n = np.ones(3)
shared = torch.from_numpy(n)
np.add(n, 1, out=n)
print(shared)
shared.add_(1)
print(n)
u = torch.ones(3)
m = u.numpy()
u.add_(1)
print(m)
