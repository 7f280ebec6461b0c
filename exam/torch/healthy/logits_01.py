"""Cross entropy on logits; softmax and sigmoid only for what is shown and counted."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 6)
labels = torch.randint(0, 3, (40,))
tags = (torch.rand(40, 2) > 0.5).float()
trunk, class_head, tag_head = nn.Linear(6, 12), nn.Linear(12, 3), nn.Linear(12, 2)
optimizer = torch.optim.Adam(nn.ModuleList([trunk, class_head, tag_head]).parameters(), lr=0.01)
for epoch in range(5):
    h = torch.relu(trunk(x))
    logits, tag_logits = class_head(h), tag_head(h)
    loss = F.cross_entropy(logits, labels) + F.binary_cross_entropy_with_logits(tag_logits, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    probabilities = F.softmax(logits, dim=1)
    confidence = probabilities.max(dim=1).values.mean().item()
    hits = ((torch.sigmoid(tag_logits) > 0.5) == tags.bool()).float().mean()
assert 1 / 3 <= confidence <= 1
assert 0 <= hits <= 1
