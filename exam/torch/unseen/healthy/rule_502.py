"""A clamp with a leak in its backward on purpose, one gradient for each input."""

import torch


class SoftClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.low, ctx.high = low, high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        inside = ((x >= ctx.low) & (x <= ctx.high)) * 0.9 + 0.1
        return grad * inside, None, None


torch.manual_seed(58)
logits = torch.randn(10, requires_grad=True)
optimizer = torch.optim.SGD([logits], lr=0.1)
for _ in range(2):
    loss = SoftClamp.apply(logits, -0.5, 0.5).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert logits.grad.shape == (10,)
