"""A linear layer as a custom Function, with gradients of the right shapes."""

import torch
from torch import nn


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() + bias

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight, grad_output.t() @ x, grad_output.sum(dim=0)


class Linear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / n_in**0.5)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return LinearFunction.apply(x, self.weight, self.bias)


torch.manual_seed(0)
net = nn.Sequential(Linear(4, 6), nn.ReLU(), Linear(6, 2))
x, labels = torch.randn(10, 4), torch.randint(0, 2, (10,))
nn.functional.cross_entropy(net(x), labels).backward()
args = [torch.randn(*s, dtype=torch.double, requires_grad=True) for s in ((3, 4), (2, 4), (2,))]
assert torch.autograd.gradcheck(LinearFunction.apply, args)
