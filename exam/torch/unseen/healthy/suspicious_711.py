"""Layers are set as attributes with numbered names, and a plain list holds them once more for the loop."""

import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.hidden = []
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            layer = nn.Linear(a, b)
            setattr(self, f"fc{i}", layer)
            self.hidden.append(layer)

    def forward(self, x):
        for layer in self.hidden[:-1]:
            x = torch.relu(layer(x))
        return self.hidden[-1](x)


torch.manual_seed(0)
model = MLP([4, 16, 16, 2])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(10, 4)), torch.randint(0, 2, (10,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert len(list(model.parameters())) == 6
