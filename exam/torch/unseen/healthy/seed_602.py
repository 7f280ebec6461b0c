import torch
from torch import nn

torch.manual_seed(0)
field = nn.Sequential(nn.Linear(3, 12), nn.Softplus(), nn.Linear(12, 2))


def sensitivity(module, x):
    """The sum of the outputs' derivatives by each input."""
    x = x.clone().requires_grad_()
    y = module(x)
    (slopes,) = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)
    return slopes


optimizer = torch.optim.Adam(field.parameters(), lr=1e-3)
for step in range(3):
    points = torch.randn(15, 3)
    penalty = sensitivity(field, points).pow(2).mean()
    loss = field(points).pow(2).mean() + 0.1 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
