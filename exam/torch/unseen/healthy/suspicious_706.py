"""ReZero: the branch is multiplied by a gain that starts at zero, so in the first step it has a gradient of zero."""

import torch
from torch import nn


class ReZero(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.gain = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.gain * self.branch(x)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 8), *[ReZero(8) for _ in range(4)], nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(16, 5)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model[1].branch[0].weight.grad.abs().sum() > 0
