"""Class numbers as labels, and soft labels as probabilities."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(56)
flowers = torch.randn(21, 4)
species = torch.arange(21) % 3
one_hot = F.one_hot(species, num_classes=3)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    logits = net(flowers)
    loss = F.cross_entropy(logits, species)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
soft = 0.9 * one_hot.float() + 0.1 / 3
F.cross_entropy(net(flowers), soft).backward()
assert loss.isfinite()
