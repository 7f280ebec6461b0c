"""A policy whose entropy is clamped away from the log of zero."""

import torch
from torch import nn

torch.manual_seed(29)
actor = nn.Linear(3, 4)
with torch.no_grad():
    actor.weight.mul_(400)
optimizer = torch.optim.SGD(actor.parameters(), lr=1e-3)


def entropy(probs):
    return -(probs * torch.log(probs + 1e-8)).sum(dim=1).mean()


for _ in range(3):
    states = torch.randn(16, 3)
    advantages = torch.randn(16)
    probs = torch.softmax(actor(states), dim=1)
    picked = probs.gather(1, torch.randint(0, 4, (16, 1))).squeeze(1)
    loss = -(picked * advantages).mean() - 0.01 * entropy(probs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(actor.weight).all()
