"""A soft mask, and a hard one with a straight-through estimator."""

import torch
import torch.nn.functional as F

torch.manual_seed(28)
weight = torch.randn(6, 4)
scores = torch.randn(6, 4, requires_grad=True)
optimizer = torch.optim.SGD([scores], lr=0.5)
x = torch.randn(30, 6)
y = torch.randint(0, 4, (30,))


def pruned_logits(batch):
    mask = torch.sigmoid(scores)
    return batch @ (weight * mask)


for _ in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(pruned_logits(x), y)
    loss.backward()
    optimizer.step()
hard = (torch.sign(scores) + 1) / 2
straight = hard.detach() + scores - scores.detach()
F.cross_entropy(x @ (weight * straight), y).backward()
assert float(scores.grad.abs().max()) > 0
