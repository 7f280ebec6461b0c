# expect: GT302
# cause: the gradient of the weight is returned transposed
# wrong: raises RuntimeError
# cure: grad_w = x.t() @ grad_output  # <- here -> grad_w = grad_output.t() @ x
import torch
from torch import nn


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_output @ weight
        grad_w = x.t() @ grad_output  # <- here
        return grad_x, grad_w  # <- here


torch.manual_seed(0)
weight = nn.Parameter(torch.randn(2, 6))
x = torch.randn(9, 6, requires_grad=True)
loss = LinearFunction.apply(x, weight).pow(2).sum()
loss.backward()  # <- asked
