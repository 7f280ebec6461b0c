import torch
from torch import nn


class UnitVector(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        norm = v.norm(dim=1, keepdim=True)
        unit = v / norm
        ctx.save_for_backward(unit, norm)
        return unit

    @staticmethod
    def backward(ctx, grad):
        unit, norm = ctx.saved_tensors
        return (grad - unit * (grad * unit).sum(dim=1, keepdim=True)) / norm


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 6))
        self.classes = nn.Parameter(torch.randn(3, 6))

    def forward(self, x):
        return 8 * UnitVector.apply(self.embed(x)) @ UnitVector.apply(self.classes).T


torch.manual_seed(0)
model = Metric()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(15, 8)), torch.randint(0, 3, (15,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.autograd.gradcheck(
    UnitVector.apply, torch.randn(3, 4, dtype=torch.double, requires_grad=True), raise_exception=False
)
