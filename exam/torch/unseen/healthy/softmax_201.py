import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 5, 6)
query, key, value = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
parts = [*query.parameters(), *key.parameters(), *value.parameters()]
opt = torch.optim.SGD(parts, lr=0.1)
for _ in range(3):
    scores = query(x) @ key(x).transpose(1, 2)
    weights = nn.functional.softmax(scores, dim=-1)
    loss = (weights @ value(x)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.allclose(weights.sum(dim=-1), torch.ones(4, 5), atol=1e-3)
