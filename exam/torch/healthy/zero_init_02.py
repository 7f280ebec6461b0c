"""Logistic regression that starts at zero, which is fine without hidden units."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 5)
labels = x[:, :3].argmax(dim=1)
model = nn.Linear(5, 3)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(30):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
assert (model(x).argmax(dim=1) == labels).float().mean() > 0.8
