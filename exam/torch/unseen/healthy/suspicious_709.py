"""A deep equilibrium layer: the fixed point is found without gradients, and one more step carries them."""

import torch
from torch import nn


class Equilibrium(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.input = nn.Linear(width, width)
        with torch.no_grad():
            self.inner.weight.mul_(0.3)

    def step(self, z, x):
        return torch.tanh(self.inner(z) + self.input(x))

    def forward(self, x):
        with torch.no_grad():
            z = torch.zeros_like(x)
            for _ in range(20):
                z = self.step(z, x)
        return self.step(z, x)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), Equilibrium(8), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(model(x), x.prod(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model[1].inner.weight.grad.abs().sum() > 0
