"""A physics-informed network: derivatives with respect to the input are part of the loss."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
losses = []
for step in range(20):
    t = torch.rand(25, 1, requires_grad=True)
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    start = net(torch.zeros(1, 1)) - 1.0
    loss = (du + u).pow(2).mean() + start.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
