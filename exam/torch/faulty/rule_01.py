# expect: GT320
# cause: the backward of the cubic activation gives 2 x**2 instead of 3 x**2
# wrong: not torch.autograd.gradcheck(Cube.apply, torch.randn(4, dtype=torch.double, requires_grad=True), raise_exception=False)
# cure: 2 * x**2 -> 3 * x**2
import torch
from torch import nn


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x**2  # <- here


torch.manual_seed(0)
linear = nn.Linear(4, 3)
optimizer = torch.optim.SGD(linear.parameters(), lr=0.01)
x, y = torch.randn(20, 4), torch.randn(20, 3)
for step in range(3):
    optimizer.zero_grad()
    out = Cube.apply(linear(x))  # <- asked
    loss = (out - y).pow(2).mean()
    loss.backward()  # <- asked
    optimizer.step()
