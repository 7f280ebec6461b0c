import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleList([nn.Linear(4, 1) for _ in range(3)])
x, targets = torch.randn(10, 4), torch.randn(3, 10, 1)
total = torch.zeros(1)
for head, target in zip(heads, targets):
    total += nn.functional.mse_loss(head(x), target)
total.backward()
assert heads[0].weight.grad is not None
