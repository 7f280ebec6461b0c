# expect: GT302 or GT303 or GT304 or GT311 or GT314
# cause: the backward of the clipped exponential returns a NumPy array, and gradients are tensors
# wrong: raises RuntimeError
# cure: return (grad * y).numpy()  # <- here -> return grad * y
import torch
from torch import nn


class SafeExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(max=20).exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return (grad * y).numpy()  # <- here


torch.manual_seed(0)
layer = nn.Linear(4, 2)
loss = SafeExp.apply(layer(torch.randn(6, 4))).sum()  # <- asked
loss.backward()  # <- asked
