# expect: GT512 or GT513
# cause: the trainer trains a deep copy of the model, and the optimiser has the parameters of the original
# wrong: torch.equal(trainer.model[0].weight, model[0].weight)
# cure: self.model = copy.deepcopy(model) -> self.model = model
# cure: trainer = Trainer(model, optimizer) -> trainer, model = Trainer(model, optimizer), copy.deepcopy(model)
import copy

import torch
from torch import nn


class Trainer:
    def __init__(self, model, optimizer):
        self.model = copy.deepcopy(model)  # <- here
        self.optimizer = optimizer
        self.criterion = nn.MSELoss()

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()  # <- asked
        self.optimizer.step()  # <- asked
        return loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # <- here
trainer = Trainer(model, optimizer)  # <- here
for epoch in range(4):
    x = torch.randn(12, 3)
    trainer.step(x, x[:, :2].sin())
