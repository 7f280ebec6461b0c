# expect: GT302
# cause: the backward of the function returns the gradient of the weight transposed
# wrong: raises RuntimeError
# cure: grad.T @ x -> x.T @ grad
import torch
from torch import nn


class Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.T, grad.T @ x  # <- here


class Projection(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs**0.5)

    def forward(self, x):
        return Project.apply(x, self.weight)


torch.manual_seed(57)
net = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), Projection(4, 3))
loss = net(torch.randn(9, 6)).square().mean()
loss.backward()  # <- asked
