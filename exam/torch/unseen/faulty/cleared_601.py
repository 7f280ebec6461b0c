# expect: GT511
# cause: the gradients of all steps add up, because zero_grad is never called
# wrong: accumulated
# cure: self.optimizer.step() -> self.optimizer.step()\n        self.optimizer.zero_grad()
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        self.criterion = nn.MSELoss()

    def training_step(self, batch):
        x, y = batch
        loss = self.criterion(self.model(x), y)
        loss.backward()  # <- here
        self.optimizer.step()  # <- here
        return loss.detach()

    def fit(self, loader, epochs):
        return [self.training_step(batch) for _ in range(epochs) for batch in loader]


torch.manual_seed(0)
x = torch.randn(64, 5)
loader = DataLoader(TensorDataset(x, x.sum(dim=1, keepdim=True)), batch_size=16)
trainer = Trainer(nn.Linear(5, 1), rate=1e-2)
history = trainer.fit(loader, epochs=2)
accumulated = any(p.grad is not None and p.grad.any() for p in trainer.model.parameters())
