# expect: GT301
# cause: the seed of the backward pass is a vector (8,), the output is a column (8, 1)
# wrong: raises RuntimeError
# cure: torch.ones(len(points)) -> torch.ones(len(points), 1)
import torch
from torch import nn

torch.manual_seed(40)
field = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))


def surface_normals(points):
    points = points.clone().requires_grad_()
    distance = field(points)
    distance.backward(gradient=torch.ones(len(points)))  # <- here
    return nn.functional.normalize(points.grad, dim=1)


normals = surface_normals(torch.randn(8, 3))
print(normals.shape)
