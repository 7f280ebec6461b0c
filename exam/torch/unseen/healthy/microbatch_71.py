"""Accumulation with a remainder: a counter decides when the optimiser steps, and what is left is stepped at the end."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 5), nn.Softplus(), nn.Linear(5, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
pending, every, steps = 0, 3, 0
for i in range(11):
    x = torch.randn(4, 5)
    loss = nn.functional.l1_loss(net(x), x.sum(1, keepdim=True)) / every
    loss.backward()
    pending += 1
    if pending == every:
        opt.step()
        opt.zero_grad()
        pending, steps = 0, steps + 1
if pending:
    opt.step()
    opt.zero_grad()
    steps += 1
assert steps == 4
