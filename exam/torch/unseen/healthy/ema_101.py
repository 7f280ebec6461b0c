"""A teacher that is a moving average of the student gives targets; it is never trained."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 4)
student = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for _ in range(15):
    noisy = x + 0.1 * torch.randn_like(x)
    loss = nn.functional.mse_loss(student(noisy), teacher(x)) + 0.1 * student(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters(), strict=True):
            t.mul_(0.9).add_(s, alpha=0.1)
assert loss.isfinite()
