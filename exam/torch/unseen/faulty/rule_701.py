# expect: GT302 or GT320
# cause: backward returns the gradients in another order than that of the arguments of forward
# wrong: raises RuntimeError
# cure: return grad_scale, grad_x -> return grad_x, grad_scale
import torch
from torch import nn


class ScaleFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        grad_x = grad * scale
        grad_scale = (grad * x).sum(dim=0)
        return grad_scale, grad_x  # <- here


class ChannelScale(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        return ScaleFn.apply(x, self.scale)  # <- here


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 12), ChannelScale(12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(9, 5)
    loss = (net(x) - x.mean(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
