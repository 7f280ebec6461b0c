"""Ensemble with learned mixing weights: softmax over dim 0 is over the members, which are summed over."""

import torch
from torch import nn


class Ensemble(nn.Module):
    def __init__(self, members=3):
        super().__init__()
        self.members = nn.ModuleList(nn.Linear(5, 4) for _ in range(members))
        self.mixing = nn.Parameter(torch.zeros(members))

    def forward(self, x):
        outputs = torch.stack([member(x) for member in self.members])
        weights = torch.softmax(self.mixing, dim=0)
        return torch.einsum("m,mnc->nc", weights, outputs), outputs


torch.manual_seed(0)
model = Ensemble()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x, y = torch.randn(4, 5), torch.randint(0, 4, (4,))
    mixed, outputs = model(x)
    attention = torch.softmax((outputs * mixed.detach()).sum(-1), dim=0)
    loss = nn.functional.cross_entropy(mixed + 0.1 * (attention.unsqueeze(-1) * outputs).sum(dim=0), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.mixing.grad is not None
