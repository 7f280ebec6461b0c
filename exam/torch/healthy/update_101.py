"""Updates and gradients without an optimiser's step that are meant: new tensors that are kept, and gradients read."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(20, 3), torch.randn(20, 1)
model = nn.Linear(3, 1)
for _ in range(4):  # the new values are collected, and copied back
    loss = (model(x) - y).square().mean()
    model.zero_grad()
    loss.backward()
    new = []
    with torch.no_grad():
        for p in model.parameters():
            p = p - 0.1 * p.grad
            new.append(p)
        for p, value in zip(model.parameters(), new):
            p.copy_(value)
first = loss.item()

optimiser = torch.optim.Adam(model.parameters())  # only its state is wanted here
norms = []
for batch in x.split(5):
    optimiser.zero_grad()
    (model(batch) ** 2).mean().backward()
    norms.append(sum(p.grad.norm().item() for p in model.parameters()))
assert len(norms) == 4
assert first > 0
