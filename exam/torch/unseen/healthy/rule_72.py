"""Functions that change the gradient on purpose: noise-free scaling of it, and a fake quantisation with a range."""

import torch


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class FakeQuantise(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x, low, high, levels):
        FakeQuantise.calls += 1
        ctx.save_for_backward((x >= low) & (x <= high))
        step = (high - low) / (levels - 1)
        return torch.round((x.clamp(low, high) - low) / step) * step + low

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None, None, None


torch.manual_seed(0)
net = torch.nn.Linear(6, 2)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(30, 6), torch.randn(30, 2)
for _ in range(4):
    w = FakeQuantise.apply(net.weight, -1.0, 1.0, 16)
    out = torch.nn.functional.linear(ScaleGradient.apply(x @ torch.eye(6), 0.5), w, net.bias)
    loss = torch.nn.functional.mse_loss(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert FakeQuantise.calls == 4
