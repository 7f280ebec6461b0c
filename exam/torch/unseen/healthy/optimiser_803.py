import copy

import torch
from torch import nn


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.criterion = nn.MSELoss()

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
trainer, model = Trainer(model, optimizer), copy.deepcopy(model)
for epoch in range(4):
    x = torch.randn(12, 3)
    trainer.step(x, x[:, :2].sin())
assert not torch.equal(trainer.model[0].weight, model[0].weight)
