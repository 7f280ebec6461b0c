# expect: GT103 or GT101
# cause: the largest score of each row is subtracted without its axis, so that each column is shifted by the maximum of another row
# wrong: not torch.allclose(shifted.max(dim=1).values, torch.zeros(9))
# cure: scores.max(dim=1).values  # <- here -> scores.max(dim=1, keepdim=True).values
import torch
from torch import nn

torch.manual_seed(0)
query, key = nn.Linear(5, 5), nn.Linear(5, 5)
tokens = torch.randn(9, 5)
scores = query(tokens) @ key(tokens).T
shifted = scores - scores.max(dim=1).values  # <- here
weights = shifted.exp()
weights = weights / weights.sum(dim=1, keepdim=True)
loss = (weights @ tokens - tokens).square().mean()
loss.backward()
