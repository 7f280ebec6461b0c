"""Pairwise ranking (RankNet) and triplets: columns meet rows by view on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
scorer = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-2)
for query in range(4):
    documents, relevance = torch.randn(12, 6), torch.randint(0, 4, (12,)).float()
    scores = scorer(documents)
    difference = scores.view(-1, 1) - scores.view(1, -1)
    wanted = (relevance.view(-1, 1) > relevance.view(1, -1)).float()
    loss = (nn.functional.softplus(-difference) * wanted).sum() / wanted.sum().clamp(min=1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert difference.shape == (12, 12)
