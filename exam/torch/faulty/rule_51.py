# expect: GT320
# cause: the backward of the leaky relu passes negative inputs unscaled
# wrong: not torch.autograd.gradcheck(leaky, (torch.tensor([-1.0, 2.0], dtype=torch.double, requires_grad=True),), raise_exception=False)
# cure: return grad_output.clone(), None  # <- here -> return grad_output * torch.where(x > 0, 1.0, ctx.slope), None
import torch
from torch import nn


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.clone(), None  # <- here


def leaky(x):
    return LeakyReLU.apply(x, 0.1)  # <- asked


torch.manual_seed(0)
layers = nn.ModuleList([nn.Linear(4, 8), nn.Linear(8, 2)])
optimizer = torch.optim.SGD(layers.parameters(), lr=0.05)
x, y = torch.randn(20, 4), torch.randn(20, 2)
for step in range(3):
    loss = nn.functional.mse_loss(layers[1](leaky(layers[0](x))), y)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
