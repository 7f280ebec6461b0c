# expect: GT201 or GT305 because GT208
# cause: the forward pass stands in the no_grad block that was meant for evaluation
# wrong: raises RuntimeError
# cure: with torch.no_grad(): -> with torch.enable_grad():
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def predict(self, x):
        with torch.no_grad():  # <- here
            return self.net(x)  # <- here

    def step(self, x, labels):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.predict(x), labels)
        loss.backward()  # <- asked
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Linear(6, 3))
x, labels = torch.randn(15, 6), torch.randint(0, 3, (15,))
print(trainer.step(x, labels))
