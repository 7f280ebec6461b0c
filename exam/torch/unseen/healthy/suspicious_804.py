"""Masks are drawn by bernoulli of fixed rates and of learned ones with a straight-through gradient."""

import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(width))
        self.register_buffer("rate", torch.full((width,), 0.8))
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        p = torch.sigmoid(self.logits)
        hard = torch.bernoulli(p.detach().expand_as(x))
        x = x * (hard + p - p.detach())
        return self.out(x * torch.bernoulli(self.rate.expand_as(x)) / self.rate)


torch.manual_seed(0)
model = Masked()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(20, 10)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.logits.grad.abs().sum() > 0
