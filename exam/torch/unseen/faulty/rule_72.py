# expect: GT320
# cause: the derivative of the product with respect to the second factor uses the second factor
# wrong: not torch.autograd.gradcheck(ScaledProduct.apply, (torch.randn(3, dtype=torch.double, requires_grad=True), torch.randn(3, dtype=torch.double, requires_grad=True)), raise_exception=False)
# cure: grad * b * 0.5, grad * b * 0.5 -> grad * b * 0.5, grad * a * 0.5
import torch
from torch.autograd.function import once_differentiable


class ScaledProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return 0.5 * a * b

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        a, b = ctx.a, ctx.b
        return grad * b * 0.5, grad * b * 0.5  # <- here


torch.manual_seed(0)
left, right = torch.nn.Linear(5, 3), torch.nn.Linear(5, 3)
opt = torch.optim.Adam([*left.parameters(), *right.parameters()], lr=0.01)
x, y = torch.randn(16, 5), torch.randn(16, 3)
for _ in range(3):
    out = ScaledProduct.apply(left(x), right(x))  # <- asked
    loss = torch.nn.functional.mse_loss(out, y)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
