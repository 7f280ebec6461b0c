import torch
from torch import nn


class Binarise(torch.autograd.Function):
    """The sign, with the gradient of a clipped identity."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.abs().mean(dim=1, keepdim=True).detach()
        return nn.functional.linear(x, Binarise.apply(self.weight) * scale, self.bias)


torch.manual_seed(0)
net = nn.Sequential(BinaryLinear(10, 20), nn.Hardtanh(), BinaryLinear(20, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(6):
    x = torch.randn(40, 10)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for module in net:
            if isinstance(module, BinaryLinear):
                module.weight.clamp_(-1, 1)
assert net[0].weight.grad.any()
