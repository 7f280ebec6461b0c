import torch
from torch import nn


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        return grad * scale, (grad * x).sum()


torch.manual_seed(0)
layer, scale = nn.Linear(3, 3), nn.Parameter(torch.tensor(2.0))
opt = torch.optim.SGD([*layer.parameters(), scale], lr=0.1)
x = torch.randn(10, 3)
for _ in range(3):
    loss = (Scaled.apply(layer(x), scale) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert scale.grad is not None
