"""Binarised weights: a custom Function whose backward is meant to differ from the derivative of sign."""

import torch
from torch import nn


class BinarySign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight):
        ctx.save_for_backward(weight)
        return torch.sign(weight)

    @staticmethod
    def backward(ctx, grad_output):
        (weight,) = ctx.saved_tensors
        return grad_output * (weight.abs() <= 1)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, BinarySign.apply(self.weight), self.bias)


torch.manual_seed(0)
net = nn.Sequential(BinaryLinear(6, 12), nn.BatchNorm1d(12), nn.Hardtanh(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(40, 6), torch.randint(0, 2, (40,))
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
assert net[0].weight.grad.abs().sum() > 0
