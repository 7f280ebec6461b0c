import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad):
        x, s = ctx.saved_tensors
        return grad * (s + x * s * (1 - s))


class Activation(nn.Module):
    def forward(self, x):
        return Swish.apply(x)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 15), Activation(), nn.Linear(15, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(3):
    x = torch.randn(20, 5)
    loss = (net(x) - x.norm(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (
    not torch.autograd.gradcheck(
        Swish.apply, torch.randn(4, dtype=torch.float64, requires_grad=True), raise_exception=False
    )
)
