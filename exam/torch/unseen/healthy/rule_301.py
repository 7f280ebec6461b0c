import torch
from torch import nn


class SineCosine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x), torch.cos(x)

    @staticmethod
    def backward(ctx, grad_sine, grad_cosine):
        (x,) = ctx.saved_tensors
        return grad_sine * torch.cos(x) - grad_cosine * torch.sin(x)


torch.manual_seed(0)
frequency = nn.Parameter(torch.randn(6))
t = torch.linspace(0, 1, 30)[:, None]
sine, cosine = SineCosine.apply(t * frequency)
loss = (sine + 0.5 * cosine).square().mean()
loss.backward()
assert frequency.grad.shape == (6,)
