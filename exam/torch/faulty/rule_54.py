# expect: GT304
# cause: backward returns a gradient for the bias, which forward does not take
# wrong: raises RuntimeError
# cure: return grad_x, grad_w, grad_b  # <- here -> return grad_x, grad_w
import torch
from torch import nn


class Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x.mm(weight)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_output.mm(weight.t())
        grad_w = x.t().mm(grad_output)
        grad_b = grad_output.sum(0)
        return grad_x, grad_w, grad_b  # <- here


torch.manual_seed(0)
weight = nn.Parameter(torch.randn(5, 2))
features = nn.Linear(4, 5)
loss = Project.apply(features(torch.randn(6, 4)), weight).abs().mean()
loss.backward()  # <- asked
