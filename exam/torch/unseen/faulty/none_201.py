# expect: GT201 or GT202 or GT205
# cause: the coordinate is sliced out after the network was called with the whole table, which is another tensor
# wrong: raises RuntimeError
# cure: u = net(points)\nx = points[:, 0:1]  # <- here -> x, t = points[:, 0:1], points[:, 1:2]\nu = net(torch.cat([x, t], dim=1))
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
points = torch.rand(50, 2, requires_grad=True)
u = net(points)
x = points[:, 0:1]  # <- here
u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]  # <- here
loss = (u_x + u).square().mean()
loss.backward()
