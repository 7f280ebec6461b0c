# expect: GT511
# cause: the trainer clears the gradients once in its constructor and never again
# wrong: trainer.sizes[3] > 2 * trainer.sizes[0]
# cure: loss.backward() -> self.opt.zero_grad()\n        loss.backward()
import torch
from torch import nn


class Trainer:
    def __init__(self, net, lr):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)
        self.opt.zero_grad()
        self.sizes = []

    def training_step(self, batch):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()  # <- here
        self.sizes.append(sum(p.grad.norm().item() for p in self.net.parameters()))
        self.opt.step()  # <- here
        return loss.item()

    def fit(self, loader):
        return [self.training_step(batch) for batch in loader]


torch.manual_seed(0)
loader = [(torch.randn(10, 4), torch.randint(0, 3, (10,)))] * 5
trainer = Trainer(nn.Linear(4, 3), lr=1e-4)
trainer.fit(loader)
