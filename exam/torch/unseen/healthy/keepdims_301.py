import torch
from torch import nn

torch.manual_seed(0)
query, key = nn.Linear(5, 5), nn.Linear(5, 5)
tokens = torch.randn(9, 5)
scores = query(tokens) @ key(tokens).T
shifted = scores - scores.max(dim=1, keepdim=True).values
weights = shifted.exp()
weights = weights / weights.sum(dim=1, keepdim=True)
loss = (weights @ tokens - tokens).square().mean()
loss.backward()
assert torch.allclose(shifted.max(dim=1).values, torch.zeros(9))
