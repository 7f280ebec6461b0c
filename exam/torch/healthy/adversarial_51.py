"""Projected gradient attack in a loop, with torch.autograd.grad of the image only, then adversarial training."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(9, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, labels = torch.rand(15, 9), torch.randint(0, 3, (15,))


def attack(x, labels, eps=0.1, steps=3):
    delta = torch.zeros_like(x).uniform_(-eps, eps)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model(x + delta), labels)
        (g,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + 0.05 * g.sign()).clamp(-eps, eps)
    return (x + delta).clamp(0, 1)


for epoch in range(3):
    loss = F.cross_entropy(model(attack(x, labels)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(loss)
