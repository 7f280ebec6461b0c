# expect: GT111 or GT116
# cause: the time and the position are stacked into rows of 3 and the first layer takes 2
# wrong: raises RuntimeError
# cure: torch.stack([t, x, x**2], dim=-1) -> torch.stack([t, x], dim=-1)
import torch
from torch import nn


def coordinates(n):
    t, x = torch.rand(n), torch.rand(n) * 2 - 1
    return torch.stack([t, x, x**2], dim=-1)  # <- here


torch.manual_seed(0)
surrogate = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 1))  # <- here
points = coordinates(50).requires_grad_()
u = surrogate(points)  # <- asked
(du,) = torch.autograd.grad(u.sum(), points, create_graph=True)
(du[:, 0] - du[:, 1]).pow(2).mean().backward()
