"""A PINN: second derivatives by the input, boundary terms, and a network that is curved."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
ends = torch.tensor([[0.0], [1.0]])
for _ in range(12):
    x = torch.rand(30, 1, requires_grad=True)
    u = net(x)
    (u_x,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)
    loss = (u_xx + torch.sin(3 * x)).square().mean() + net(ends).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
