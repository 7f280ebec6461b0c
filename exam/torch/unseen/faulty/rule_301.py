# expect: GT304 or GT314
# cause: forward returns two tensors, and backward takes the gradient of one
# wrong: raises TypeError
# cure: def backward(ctx, grad_sine):  # <- here -> def backward(ctx, grad_sine, grad_cosine):
# cure: return grad_sine * torch.cos(x) -> return grad_sine * torch.cos(x) - grad_cosine * torch.sin(x)
import torch
from torch import nn


class SineCosine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x), torch.cos(x)

    @staticmethod
    def backward(ctx, grad_sine):  # <- here
        (x,) = ctx.saved_tensors
        return grad_sine * torch.cos(x)


torch.manual_seed(0)
frequency = nn.Parameter(torch.randn(6))
t = torch.linspace(0, 1, 30)[:, None]
sine, cosine = SineCosine.apply(t * frequency)  # <- asked
loss = (sine + 0.5 * cosine).square().mean()
loss.backward()  # <- asked
