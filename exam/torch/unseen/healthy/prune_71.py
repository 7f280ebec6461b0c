"""Magnitude pruning with torch.nn.utils.prune: masked weights have a gradient of zero."""

import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 2))
prune.l1_unstructured(net[0], "weight", amount=0.5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 6), torch.randint(0, 2, (20,))
for _ in range(4):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert (net[0].weight == 0).sum() == 30
