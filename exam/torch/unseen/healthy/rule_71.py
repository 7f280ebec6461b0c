"""Custom functions that are right: a two-output polar map, and one with setup_context."""

import torch


class Polar(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        r = torch.hypot(x, y)
        ctx.save_for_backward(x, y, r)
        return r, torch.atan2(y, x)

    @staticmethod
    def backward(ctx, gr, gphi):
        x, y, r = ctx.saved_tensors
        return gr * x / r - gphi * y / r**2, gr * y / r + gphi * x / r**2


class Softclip(torch.autograd.Function):
    @staticmethod
    def forward(x, limit):
        return limit * torch.tanh(x / limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.limit = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        return g * (1 - (out / ctx.limit) ** 2), None


torch.manual_seed(0)
p = torch.randn(10, 2, requires_grad=True)
opt = torch.optim.SGD([p], lr=0.05)
for _ in range(4):
    radius, angle = Polar.apply(p[:, 0], p[:, 1])
    loss = (Softclip.apply(radius, 3.0) - 1).square().mean() + 0.1 * angle.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(p.grad).all()
