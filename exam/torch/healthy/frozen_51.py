"""Low-rank adaptation: the pretrained weight is frozen, B starts at zero and A at random."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(0.1 * torch.randn(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.A.T @ self.B.T


torch.manual_seed(0)
net = nn.Sequential(LoRALinear(nn.Linear(8, 8)), nn.ReLU(), LoRALinear(nn.Linear(8, 2)))
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
x, labels = torch.randn(20, 8), torch.randint(0, 2, (20,))
losses = []
for step in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), labels)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
assert net[0].base.weight.grad is None
