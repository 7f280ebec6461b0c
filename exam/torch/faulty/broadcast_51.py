# expect: GT101
# cause: the trainer passes a column of predictions and a vector of targets to l1_loss
# wrong: trainer.log[-1] > 0.5
# cure: self.loss(self.model(xb), yb) -> self.loss(self.model(xb).flatten(), yb)
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model, loss, lr):
        self.model, self.loss = model, loss
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.log = []

    def fit(self, x, y, epochs, batch_size):
        for _ in range(epochs):
            order = torch.randperm(len(x))
            for rows in order.split(batch_size):
                xb, yb = x[rows], y[rows]
                self.optimizer.zero_grad()
                loss = self.loss(self.model(xb), yb)  # <- here
                loss.backward()
                self.optimizer.step()
            self.log.append(loss.item())


torch.manual_seed(0)
temperature = torch.rand(48, 2)
demand = 4 * temperature[:, 0] - 3 * temperature[:, 1]
trainer = Trainer(nn.Linear(2, 1), F.l1_loss, lr=0.05)
trainer.fit(temperature, demand, epochs=60, batch_size=12)
