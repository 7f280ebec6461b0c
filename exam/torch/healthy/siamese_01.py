"""SimSiam: the target branch is detached on purpose, and the network still trains through the other branch."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
predictor = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05)


def negative_cosine(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=-1).mean()


images = torch.randn(20, 10)
for step in range(5):
    view1, view2 = (images + 0.1 * torch.randn_like(images) for _ in range(2))
    z1, z2 = encoder(view1), encoder(view2)
    loss = (negative_cosine(predictor(z1), z2) + negative_cosine(predictor(z2), z1)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad is not None for p in encoder.parameters())
