"""Experts chosen by the input: in a batch some experts are not used, and have no gradient in that step."""

import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self, dim, count):
        super().__init__()
        self.gate = nn.Linear(dim, count)
        self.experts = nn.ModuleList(nn.Linear(dim, 1) for _ in range(count))

    def forward(self, x):
        weight, chosen = torch.softmax(self.gate(x), dim=-1).max(dim=-1)
        out = torch.zeros(len(x), 1)
        for i, expert in enumerate(self.experts):
            rows = (chosen == i).nonzero(as_tuple=True)[0]
            if len(rows):
                out = out.index_add(0, rows, weight[rows, None] * expert(x[rows]))
        return out


torch.manual_seed(0)
model = Experts(4, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(3, 4)
    loss = (model(x) - x.sum(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert any(expert.weight.grad is None for expert in model.experts)
assert model.gate.weight.grad is not None
