import torch
from torch import nn

torch.manual_seed(0)
emission = nn.Linear(6, 4)
transition = nn.Parameter(torch.randn(4, 4))
allowed = torch.zeros(4, 4)
allowed[:, 0] = -1e4
sentence = torch.randn(5, 6)
scores = emission(sentence)
alpha = scores[0]
for t in range(1, 5):
    alpha = torch.logsumexp(alpha[:, None] + transition + allowed, dim=0) + scores[t]
partition = torch.logsumexp(alpha, dim=0)
gold = scores[:, 1].sum()
loss = partition - gold
loss.backward()
assert torch.isfinite(emission.weight.grad).all()
