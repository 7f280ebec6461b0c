"""Non-maximal activations are dropped (k-winners), and a top-k router leaves experts without a gradient in a step."""

import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, width=6, experts=4, k=2):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.k = k

    def forward(self, x):
        top, index = self.gate(x).topk(self.k, dim=-1)
        weight = top.softmax(dim=-1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows, slot = (index == e).nonzero(as_tuple=True)
            if len(rows):
                out.index_add_(0, rows, weight[rows, slot].unsqueeze(1) * expert(x[rows]))
        return out


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 6), Router(), nn.Linear(6, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(3, 5)
    loss = nn.functional.cross_entropy(model(x), torch.randint(0, 2, (3,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model[1].gate.weight.grad is not None
