"""A transformer block, evaluated without gradients afterwards."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, tokens):
        normed = self.norm(tokens)
        tokens = tokens + self.attention(normed, normed, normed, need_weights=False)[0]
        return tokens + self.mlp(tokens)


torch.manual_seed(11)
block = Block(8)
optimizer = torch.optim.Adam(block.parameters(), lr=1e-3)
tokens, wanted = torch.randn(3, 5, 8), torch.randn(3, 5, 8)
for _ in range(2):
    loss = nn.functional.mse_loss(block(tokens), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    final = nn.functional.mse_loss(block(tokens), wanted)
assert final.isfinite()
assert not final.requires_grad
