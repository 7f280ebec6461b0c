"""A ranking model whose batch losses are added as tensors and logged as numbers."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
embedding = nn.Embedding(30, 6)
optimizer = torch.optim.SGD(embedding.parameters(), lr=0.5)


def bpr(user, good, bad):
    u, g, b = embedding(user), embedding(good), embedding(bad)
    return -F.logsigmoid((u * g).sum(1) - (u * b).sum(1)).mean()


for epoch in range(3):
    total = 0.0
    for _ in range(4):
        user, good, bad = torch.randint(0, 30, (3, 8))
        total = total + bpr(user, good, bad)
    loss = total / 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
log = {"loss": loss.item(), "norm": float(embedding.weight.norm())}
assert embedding.weight.grad is not None
assert log["loss"] > 0
