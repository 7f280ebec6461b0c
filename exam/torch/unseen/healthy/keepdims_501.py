"""Attention that is normalised by hand along its last axis."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, tokens):
        scores = self.query(tokens) @ self.key(tokens).transpose(-2, -1) / tokens.shape[-1] ** 0.5
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        return weights @ self.value(tokens), weights


torch.manual_seed(4)
tokens = torch.randn(6, 6, 8)
target = torch.randn(6, 6, 8)
layer = SelfAttention(8)
optimizer = torch.optim.Adam(layer.parameters(), lr=1e-2)
for _ in range(3):
    mixed, weights = layer(tokens)
    loss = nn.functional.mse_loss(mixed, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.allclose(weights.sum(-1), torch.ones(6, 6), atol=1e-4)
