"""Accumulation over micro batches: the sum of gradients equals that of the whole batch."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 2)
x, labels = torch.randn(24, 5), torch.randint(0, 2, (24,))
criterion = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    model.zero_grad(set_to_none=True)
    for rows in torch.arange(24).chunk(4):
        (criterion(model(x[rows]), labels[rows]) / 24).backward()
    reference = torch.autograd.grad(criterion(model(x), labels) / 24, model.weight)[0]
    assert torch.allclose(model.weight.grad, reference, atol=1e-6)
    optimizer.step()
