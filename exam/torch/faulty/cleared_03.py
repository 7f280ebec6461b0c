# expect: GT512
# cause: the gradients are cleared after backward and before the step, so that no step is made
# wrong: torch.equal(model.weight, first_weight)
# cure: loss.backward()\n        self.optimizer.zero_grad()  # <- here -> self.optimizer.zero_grad()\n        loss.backward()
import torch
from torch import nn


class Learner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

    def update(self, x, y):
        loss = nn.functional.huber_loss(self.model(x), y)
        loss.backward()
        self.optimizer.zero_grad()  # <- here
        self.optimizer.step()  # <- here
        return loss.item()


torch.manual_seed(0)
model = nn.Linear(3, 1)
first_weight = model.weight.detach().clone()
learner = Learner(model)
x = torch.randn(30, 3)
history = [learner.update(x, x.mean(dim=1, keepdim=True)) for _ in range(5)]
