# expect: GT201 or GT202 or GT205 because GT202 or GT205
# cause: u is computed from the whole array, and its derivative is asked with respect to columns that were cut out of it
# wrong: raises RuntimeError
# cure: u = net(points) -> u = net(torch.cat([x, t], dim=1))
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))

    def forward(self, points):
        return self.layers(points)


def residual(net, points, nu=0.01):
    points.requires_grad_(True)
    x, t = points[:, 0:1], points[:, 1:2]  # <- here
    u = net(points)  # <- here
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]  # <- here
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]  # <- here
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    return u_t + u * u_x - nu * u_xx


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(3):
    points = torch.rand(40, 2)
    start = torch.cat([torch.rand(20, 1), torch.zeros(20, 1)], dim=1)
    loss = residual(net, points).square().mean() + (net(start) - torch.sin(6.28 * start[:, :1])).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
