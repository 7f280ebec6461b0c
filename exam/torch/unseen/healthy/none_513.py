"""Validation between the epochs, in a no_grad block."""

import functools

import torch
from torch import nn

torch.manual_seed(18)
x_train, y_train = torch.randn(30, 4), torch.randn(30, 1)
x_val, y_val = torch.randn(10, 4), torch.randn(10, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 1))
criterion = functools.partial(nn.functional.huber_loss, delta=0.5)
optimizer = torch.optim.Adam(model.parameters())


def validate():

    model.eval()
    with torch.no_grad():
        return criterion(model(x_val), y_val).item()


for epoch in range(3):
    model.train()
    loss = criterion(model(x_train), y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item(), validate())
assert torch.is_grad_enabled()
