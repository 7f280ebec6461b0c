"""A two-class softmax with class weights and ignored labels."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randint(0, 2, (30,))
y[::7] = -100
model = nn.Linear(4, 2)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]), ignore_index=-100)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    loss = criterion(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
