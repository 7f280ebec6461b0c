"""The same network with pixels between 0 and 1."""

import torch
from torch import nn

torch.manual_seed(26)
pixels = torch.randint(0, 256, (20, 16)).float() / 255
labels = torch.randint(0, 3, (20,))
first = nn.Linear(16, 12)
nn.init.normal_(first.weight, std=1.0)
nn.init.constant_(first.weight[:, :1].data, 1.0)
first.weight.data = first.weight.data.abs()
second = nn.Linear(12, 3)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(4):
    hidden = torch.sigmoid(first(pixels))
    loss = nn.functional.cross_entropy(second(hidden), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (float(first.weight.grad.abs().max()) == 0.0)
