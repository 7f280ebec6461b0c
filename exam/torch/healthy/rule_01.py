"""A custom Function whose backward is the derivative."""

import torch
from torch import nn


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return torch.log1p(torch.exp(beta * x)) / beta

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.sigmoid(ctx.beta * x), None


torch.manual_seed(0)
fc1, fc2 = nn.Linear(3, 6), nn.Linear(6, 1)
x, y = torch.randn(15, 3), torch.randn(15, 1)
optimizer = torch.optim.SGD([*fc1.parameters(), *fc2.parameters()], lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(fc2(Softplus.apply(fc1(x), 2.0)), y)
    loss.backward()
    optimizer.step()
assert torch.autograd.gradcheck(
    lambda t: Softplus.apply(t, 2.0), torch.randn(4, dtype=torch.double, requires_grad=True)
)
