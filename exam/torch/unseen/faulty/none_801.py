# expect: GT201 or GT305 because GT209 or GT207
# cause: the ranks come from argsort, which gives integers without a derivative
# wrong: raises RuntimeError
# cure: x.argsort().argsort().float() -> (torch.sigmoid((x[:, None] - x[None, :]) / 0.1).sum(dim=1))
import torch
from torch import nn


def ranks(x):
    return x.argsort().argsort().float()  # <- here


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
    loss.backward()  # <- asked
    optimizer.step()
