import torch
from torch import nn


class LowRank(nn.Module):
    """A frozen layer with a trained update of low rank."""

    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(base.in_features, rank))
        self.up = nn.Parameter(torch.zeros(rank, base.out_features))

    def forward(self, x):
        return self.base(x) + x @ self.down @ self.up


torch.manual_seed(0)
layer = LowRank(nn.Linear(10, 4))
optimizer = torch.optim.AdamW([layer.down, layer.up], lr=1e-2, weight_decay=0.0)
for step in range(5):
    x = torch.randn(16, 10)
    loss = nn.functional.cross_entropy(layer(x), torch.randint(0, 4, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (not (layer.down.grad.any() or layer.up.grad.any()))
