# expect: GT309
# cause: the total is a leaf that requires a gradient, and the losses are added to it in place
# wrong: raises RuntimeError
# cure: total = torch.zeros(1, requires_grad=True)  # <- here -> total = torch.zeros(1)
import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleList([nn.Linear(4, 1) for _ in range(3)])
x, targets = torch.randn(10, 4), torch.randn(3, 10, 1)
total = torch.zeros(1, requires_grad=True)  # <- here
for head, target in zip(heads, targets):
    total += nn.functional.mse_loss(head(x), target)  # <- here
total.backward()
