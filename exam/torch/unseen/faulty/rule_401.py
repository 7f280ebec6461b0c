# expect: GT314 or GT304 or GT320
# cause: forward forgets save_for_backward, so that there is nothing to unpack in backward
# wrong: raises ValueError
# cure: return x.clamp(min=0) ** 2  # <- here -> ctx.save_for_backward(x)\n        return x.clamp(min=0) ** 2
import torch
from torch import nn


class SquaredRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0) ** 2  # <- here

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors  # <- here
        return grad * 2 * x.clamp(min=0)


torch.manual_seed(0)
layer = nn.Linear(4, 4)
loss = SquaredRelu.apply(layer(torch.randn(6, 4))).sum()  # <- asked
loss.backward()  # <- asked
