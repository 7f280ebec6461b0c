"""Reptile: a copy of the model is trained on a task, then the model is moved towards it by hand."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
meta = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
before = meta[0].weight.detach().clone()
for task in range(3):
    phase = torch.rand(())
    worker = copy.deepcopy(meta)
    opt = torch.optim.SGD(worker.parameters(), lr=0.05)
    for _ in range(3):
        x = torch.rand(10, 1) * 6 - 3
        loss = nn.functional.mse_loss(worker(x), torch.sin(x + phase))
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        for slow, fast in zip(meta.parameters(), worker.parameters()):
            slow.lerp_(fast, 0.3)
assert not torch.equal(before, meta[0].weight)
