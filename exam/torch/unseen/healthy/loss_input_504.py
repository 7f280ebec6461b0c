"""Tags from logits."""

import torch
import torch.nn.functional as F
from torch import nn


class TagModel(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.score = nn.Linear(7, tags)

    def forward(self, x):
        return self.score(x)


torch.manual_seed(54)
net = TagModel(5)
x = 3 * torch.randn(22, 7)
tags = (torch.rand(22, 5) < 0.3).float()
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for _ in range(3):
    loss = F.binary_cross_entropy_with_logits(net(x), tags, pos_weight=torch.full((5,), 2.0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (bool((net(x) <= 1).all() and (net(x) >= 0).all()))
