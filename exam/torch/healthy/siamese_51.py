"""BYOL: an online network learns to predict a slowly moving target network."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 6))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
predictor = nn.Linear(6, 6)
optimizer = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=1e-2)
images = torch.randn(20, 8)
losses = []
for step in range(10):
    a, b = (images + 0.05 * torch.randn_like(images) for _ in range(2))
    p = F.normalize(predictor(online(a)), dim=-1)
    z = F.normalize(target(b), dim=-1)
    loss = (2 - 2 * (p * z).sum(dim=-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for slow, fast in zip(target.parameters(), online.parameters()):
        slow.data.mul_(0.95).add_(0.05 * fast.data)
    losses.append(loss.item())
assert losses[-1] < losses[0]
