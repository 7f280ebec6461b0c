"""The input is optimised for a frozen network: only the image has a gradient."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3)).eval()
for p in net.parameters():
    p.requires_grad_(False)
image = torch.zeros(1, 1, 10, 10).normal_().requires_grad_()
optimizer = torch.optim.Adam([image], lr=0.1)
scores = []
for step in range(8):
    optimizer.zero_grad()
    score = net(image)[0, 1].mean()
    (-score + 1e-3 * image.pow(2).sum()).backward()
    optimizer.step()
    scores.append(score.item())
assert scores[-1] > scores[0]
assert all(p.grad is None for p in net.parameters())
