import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
points = torch.rand(50, 2, requires_grad=True)
x, t = points[:, 0:1], points[:, 1:2]
u = net(torch.cat([x, t], dim=1))
u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
loss = (u_x + u).square().mean()
loss.backward()
assert u_x.shape == (50, 1)
