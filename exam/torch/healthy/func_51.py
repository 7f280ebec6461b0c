"""Jacobian and Hessian of a small function with torch.func, beside a Newton step."""

import torch
from torch.func import grad, hessian, jacrev, vmap


def energy(p):
    return (p[0] - 1) ** 2 + (p[0] * p[1] - 2) ** 2 + 0.1 * p[1] ** 4


p = torch.tensor([0.5, 0.5], dtype=torch.double)
for _ in range(12):
    H = hessian(energy)(p) + 0.1 * torch.eye(2, dtype=torch.double)
    p = p - torch.linalg.solve(H, grad(energy)(p))
assert grad(energy)(p).norm() < 1e-2
rows = vmap(jacrev(lambda v: torch.stack([v.sum(), v.prod()])))(torch.rand(4, 3))
assert rows.shape == (4, 2, 3)
