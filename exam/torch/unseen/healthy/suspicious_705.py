"""A custom Function that scales the gradient and leaves the value alone, as quantisation-aware training does."""

import torch
from torch import nn


class GradScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Quantised(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.step_size = nn.Parameter(torch.tensor(0.05))

    def forward(self, x):
        s = GradScale.apply(self.step_size, 1 / self.linear.weight.numel() ** 0.5)
        weight = RoundSTE.apply((self.linear.weight / s).clamp(-8, 7)) * s
        return nn.functional.linear(x, weight, self.linear.bias)


torch.manual_seed(0)
net = nn.Sequential(Quantised(6, 12), nn.ReLU(), Quantised(12, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    loss = nn.functional.cross_entropy(net(torch.randn(20, 6)), torch.randint(0, 3, (20,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert net[0].step_size.grad.isfinite()
