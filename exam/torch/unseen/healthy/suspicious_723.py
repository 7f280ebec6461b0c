"""Targets and predictions are both columns; the weights of the classes and of the examples broadcast as they should."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(9, 18), nn.ReLU(), nn.Linear(18, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
importance = torch.rand(25, 1) + 0.5
for step in range(4):
    x = torch.randn(25, 9)
    y = (x[:, :1] > 0.5).float()
    logits = net(x)
    positive = (y == 0).sum() / (y == 1).sum().clamp(min=1)
    loss = F.binary_cross_entropy_with_logits(logits, y, weight=importance, pos_weight=positive)
    hits = ((logits > 0).float() == y).float().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert 0 <= hits <= 1
