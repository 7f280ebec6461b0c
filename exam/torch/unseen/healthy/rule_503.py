"""Swish with its whole derivative."""

import torch
from torch import nn


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * (s + x * s * (1 - s))


class Swish(nn.Module):
    def forward(self, x):
        return SwishFunction.apply(x)

    def grad_of(self, x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(self(x).sum(), x)[0]


torch.manual_seed(59)
layer = Swish()
net = nn.Sequential(nn.Linear(3, 12), layer, nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
sample = torch.linspace(-2, 2, 9)
probe = sample.clone().requires_grad_()
reference = torch.autograd.grad(nn.functional.silu(probe).sum(), probe)[0]
assert torch.allclose(layer.grad_of(sample), reference, atol=1e-4)
