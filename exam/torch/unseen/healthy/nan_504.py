"""A profile whose root is taken of a safe argument."""

import torch

torch.manual_seed(32)
a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
optimizer = torch.optim.Adam([a, b], lr=0.01)
radius = torch.cat([torch.zeros(2), torch.rand(8)])
data = torch.rand(10)


def profile(radius):
    r = a * radius
    return b * torch.where(r > 0, torch.sqrt(torch.where(r > 0, r, 1.0)), torch.zeros_like(r))


for _ in range(3):
    optimizer.zero_grad()
    loss = torch.sum((profile(radius) - data) ** 2)
    loss.backward()
    optimizer.step()
assert not (bool(a.grad.isnan()))
