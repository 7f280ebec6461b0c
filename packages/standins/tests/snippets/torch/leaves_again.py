"""What is a leaf, and what keeps its gradient."""

import torch

a = torch.rand(2, requires_grad=True)
b = a.to(torch.float64)
print(a.is_leaf, b.is_leaf, b.grad_fn.name())
c = torch.nn.Parameter(torch.rand(2))
print(c.is_leaf, c.requires_grad, type(c).__name__)
d = c * 2
d.retain_grad()
d.sum().backward()
print(d.grad, c.grad, d.retains_grad)
print(torch.ones(2).is_leaf, (torch.ones(2) * 2).is_leaf)
