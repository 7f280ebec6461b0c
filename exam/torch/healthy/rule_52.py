"""A custom Function that clips the gradient on its way back, and one for which some arguments need none."""

import torch
from torch import nn


class ClipGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clamp(-ctx.limit, ctx.limit), None


class MaskedMean(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        return (x * mask).sum() / mask.sum()

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask / mask.sum(), None


torch.manual_seed(0)
rnn = nn.RNN(3, 4, batch_first=True)
h, _ = rnn(torch.randn(2, 30, 3))
h = ClipGradient.apply(h, 1e-3)
mask = (torch.rand(2, 30, 1) > 0.3).float().expand_as(h)
MaskedMean.apply(h.pow(2) * 10, mask).backward()
assert torch.isfinite(rnn.weight_hh_l0.grad).all()
