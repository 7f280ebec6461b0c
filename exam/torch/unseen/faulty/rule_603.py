# expect: GT304
# cause: forward takes two arguments besides ctx and backward returns one gradient
# wrong: raises RuntimeError
# cure: return grad * ctx.factor -> return grad * ctx.factor, None
import torch
from torch import nn


class ScaleGradient(torch.autograd.Function):
    """The identity, whose gradient is reversed and scaled."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = -factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor  # <- here


class DomainAdversarial(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(7, 10)
        self.task, self.domain = nn.Linear(10, 3), nn.Linear(10, 2)

    def forward(self, x):
        h = self.features(x).relu()
        return self.task(h), self.domain(ScaleGradient.apply(h, 0.3))  # <- here


torch.manual_seed(0)
model = DomainAdversarial()
optimizer = torch.optim.Adam(model.parameters())
for step in range(2):
    task, domain = model(torch.randn(12, 7))
    loss = nn.functional.cross_entropy(task, torch.randint(0, 3, (12,)))
    loss = loss + nn.functional.cross_entropy(domain, torch.randint(0, 2, (12,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
