"""SimCLR's NT-Xent: all pairs of two views, the diagonal masked with minus infinity."""

import torch
import torch.nn.functional as F
from torch import nn


def nt_xent(a, b, temperature=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    similarity = z @ z.T / temperature
    similarity.fill_diagonal_(float("-inf"))
    n = len(a)
    partner = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, partner)


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
x = torch.randn(14, 12)
losses = []
for step in range(8):
    loss = nt_xent(encoder(x + 0.1 * torch.randn_like(x)), encoder(x + 0.1 * torch.randn_like(x)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
