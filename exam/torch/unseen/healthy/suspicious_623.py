import torch
from torch import nn


class SparseGate(nn.Module):
    """Experts of which only the best two are asked for each example."""

    def __init__(self, width=6, experts=4, chosen=2):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList([nn.Linear(width, width) for _ in range(experts)])
        self.chosen = chosen

    def forward(self, x):
        scores = self.gate(x)
        top, index = scores.topk(self.chosen, dim=-1)
        weights = torch.full_like(scores, float("-inf")).scatter(-1, index, top).softmax(dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (weights[:, i] > 0).nonzero().squeeze(-1)
            out = out.index_add(0, rows, weights[rows, i : i + 1] * expert(x[rows]))
        load = (weights > 0).float().mean(dim=0)
        balance = (load * scores.softmax(dim=-1).mean(dim=0)).sum()
        return out, balance


torch.manual_seed(0)
model = SparseGate()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(20, 6)
    out, balance = model(x)
    loss = nn.functional.mse_loss(out, x.flip(1)) + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.gate.weight.grad.any()
