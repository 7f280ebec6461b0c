"""The heat equation with the residual of each point."""

import torch
from torch import nn

torch.manual_seed(2)
nu = 0.1
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def derivative(values, points):
    return torch.autograd.grad(values, points, torch.ones_like(values), create_graph=True)[0]


for step in range(3):
    t = torch.rand(30, 1, requires_grad=True)
    x = torch.rand(30, 1, requires_grad=True)
    u = net(torch.cat([t, x], dim=1))
    u_t = derivative(u, t)
    u_x = derivative(u, x)
    u_xx = derivative(u_x, x).squeeze()
    residual = u_t.squeeze(1) - nu * u_xx
    loss = residual.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (residual.shape == (30, 30))
