"""Causal self-attention written by hand: minus infinity as a mask, softmax over the keys."""

import math

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
        att = att.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


torch.manual_seed(0)
layer = CausalAttention(8, 2)
x = torch.randn(3, 5, 8, requires_grad=True)
out = layer(x)
out[:, 1].sum().backward()
assert not x.grad[:, 2:].any()
assert torch.isfinite(layer.qkv.weight.grad).all()
