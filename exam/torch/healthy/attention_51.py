"""nn.MultiheadAttention with a padding mask, and a slot attention that normalises over the slots on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(3, 6, 8)
padding = torch.arange(6) >= torch.tensor([6, 4, 2]).unsqueeze(1)
h, _ = attention(x, x, x, key_padding_mask=padding)

slots = nn.Parameter(torch.randn(4, 8))
scores = torch.einsum("sd,btd->bst", slots, h) / 8**0.5
weights = scores.softmax(dim=1)  # the slots compete for each token
weights = weights / (weights.sum(dim=2, keepdim=True) + 1e-8)
updates = weights @ h
loss = (updates.mean(dim=1) - x.mean(dim=1)).pow(2).mean()
loss.backward()
assert slots.grad.any()
assert torch.isfinite(attention.in_proj_weight.grad).all()
