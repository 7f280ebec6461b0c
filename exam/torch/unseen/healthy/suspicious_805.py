"""Loops that bind their names anew on purpose: states are scaled and kept, the last one is used after the loop."""

import torch
from torch import nn


class Scales(nn.Module):
    def __init__(self, levels=3, width=6):
        super().__init__()
        self.gains = nn.ParameterList(nn.Parameter(torch.ones(width)) for _ in range(levels))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        kept = []
        for gain in self.gains:
            gain = gain * gain.detach().norm() / 2
            kept.append(gain)
        for scale in self.gains:
            scale = scale / scale.sum()
        return self.out(x * torch.stack(kept).mean(dim=0) * scale)


torch.manual_seed(0)
model = Scales()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(16, 6)
    loss = (model(x) - x.mean(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.gains[2].grad is not None
