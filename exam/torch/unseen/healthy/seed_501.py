"""Normals of a signed distance field."""

import torch
from torch import nn

torch.manual_seed(40)
field = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))


def surface_normals(points):
    points = points.clone().requires_grad_()
    distance = field(points)
    distance.backward(gradient=torch.ones(len(points), 1))
    return nn.functional.normalize(points.grad, dim=1)


normals = surface_normals(torch.randn(8, 3))
print(normals.shape)
assert normals.shape == (8, 3)
