"""Hard example mining: the largest losses of a batch are kept, by topk of the losses themselves."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(60, 5), torch.randint(0, 3, (60,))
model = nn.Linear(5, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    each = nn.functional.cross_entropy(model(x), y, reduction="none")
    loss = each.topk(20).values.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
