"""The head is trained first, then everything: the body is unfrozen and joins, with a new optimiser for the second phase."""

import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(6, 12), nn.ReLU()), nn.Linear(12, 2)
x, y = torch.randn(30, 6), torch.randint(0, 2, (30,))


def phase(parameters, steps):
    opt = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(head(body(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


body.requires_grad_(False)
first = phase(list(head.parameters()), 4)
body.requires_grad_(True)
second = phase([*body.parameters(), *head.parameters()], 6)
assert second < first
