# expect: GT513
# cause: reset() replaces the layer between two runs, and the optimiser goes on with the old weights
# wrong: torch.equal(model.classifier.weight, fresh)
# cure: model.reset() -> model.reset()\nopt = torch.optim.SGD(model.parameters(), lr=0.2)
import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(7)
        self.reset()

    def reset(self):
        self.classifier = nn.Linear(7, 3)  # <- here

    def forward(self, x):
        return self.classifier(self.norm(x))


def fit(model, opt, x, y, steps):
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()  # <- asked
        opt.step()  # <- asked


torch.manual_seed(0)
model = Probe()
opt = torch.optim.SGD(model.parameters(), lr=0.2)  # <- here
x, y = torch.randn(30, 7), torch.randint(0, 3, (30,))
model.reset()  # <- here
fresh = model.classifier.weight.detach().clone()
fit(model, opt, x, y, 4)
