import torch
from torch import nn


def ranks(x):
    return torch.sigmoid((x[:, None] - x[None, :]) / 0.1).sum(dim=1)


def spearman_loss(prediction, target):
    a, b = ranks(prediction), ranks(target)
    a, b = a - a.mean(), b - b.mean()
    return 1 - (a * b).sum() / (a.norm() * b.norm())


torch.manual_seed(0)
scorer = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 1))
optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-2)
for step in range(3):
    x = torch.randn(25, 7)
    loss = spearman_loss(scorer(x).squeeze(1), x.sum(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
