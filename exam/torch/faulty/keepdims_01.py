# expect: GT103 or GT101
# cause: the sum of each row is divided by without keepdim, and the affinity matrix is square
# wrong: not torch.allclose(attention.sum(dim=1), torch.ones(8))
# cure: weights.sum(dim=1) -> weights.sum(dim=1, keepdim=True)
import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randn(8, 12)
query, key, value = nn.Linear(12, 6), nn.Linear(12, 6), nn.Linear(12, 6)


def attend(tokens):
    scores = query(tokens) @ key(tokens).T / 6**0.5
    weights = torch.exp(scores - scores.max())
    attention = weights / weights.sum(dim=1)  # <- here
    return attention, attention @ value(tokens)


attention, context = attend(tokens)
loss = context.pow(2).mean()
loss.backward()
print(query.weight.grad.norm())
