# expect: GT513
# cause: the projection is made in the first forward pass, when the optimiser exists already
# wrong: torch.equal(model.proj.weight, first)
# cure: model = Lazy(4)\n -> model = Lazy(4)\nmodel(torch.randn(30, 11))\n
import torch
from torch import nn


class Lazy(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.proj = None
        self.out = nn.Linear(10, n_classes)

    def forward(self, x):
        if self.proj is None:
            self.proj = nn.Linear(x.shape[1], 10)  # <- here
        return self.out(torch.relu(self.proj(x)))


torch.manual_seed(0)
x, labels = torch.randn(30, 11), torch.randint(0, 4, (30,))
model = Lazy(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # <- here
first = None
for epoch in range(4):
    logits = model(x)
    if first is None:
        first = model.proj.weight.detach().clone()
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
