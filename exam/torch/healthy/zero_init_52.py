"""A regression that is solved exactly: the gradient becomes zero because there is nothing left to learn."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
y = x @ torch.tensor([[2.0], [-1.0]])
model = nn.Linear(2, 1, bias=False)
with torch.no_grad():
    model.weight.copy_(torch.tensor([[2.0, -1.0]]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.item() == 0
assert not model.weight.grad.any()
