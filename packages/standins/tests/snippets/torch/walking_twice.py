"""Walking a graph twice, with and without retain_graph."""

import torch

x = torch.tensor(3.0, requires_grad=True)
shared = x**2
l1 = shared * 2
l2 = shared * 3
l1.backward(retain_graph=True)
l2.backward()
print(x.grad)
try:
    l2.backward()
except RuntimeError as e:
    print(type(e).__name__)
state = torch.zeros(1)
w = torch.ones(1, requires_grad=True)
try:
    for _ in range(2):
        state = state * w + 1
        state.sum().backward()
except RuntimeError as e:
    print(type(e).__name__)
