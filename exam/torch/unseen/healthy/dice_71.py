"""Dice and focal losses on a mask; sums over the pixels with a smoothing constant."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.LeakyReLU(), nn.Conv2d(4, 1, 1))
image = torch.randn(3, 1, 9, 9)
mask = (image > 0.3).float()
opt = torch.optim.AdamW(net.parameters(), lr=0.05)


def dice(logits):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * mask).sum(dim=(1, 2, 3)) + 1) / (p.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3)) + 1)


def focal(logits):
    ce = F.binary_cross_entropy_with_logits(logits, mask, reduction="none")
    return ((1 - torch.exp(-ce)) ** 2 * ce).mean()


for _ in range(6):
    logits = net(image)
    loss = dice(logits).mean() + focal(logits)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.item() < 1.5
