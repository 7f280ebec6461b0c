"""torch.autograd.Function: writes in place, forward rules, rules that cannot be differentiated, wrong rules."""

import torch
from torch.autograd import Function, forward_ad
from torch.autograd.function import once_differentiable


class Tripled(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 3


leaf = torch.ones(2, requires_grad=True)
written = leaf * 1
result = Tripled.apply(written)
print(result is written, written)
written.sum().backward()
print(leaf.grad)


class Moving(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.exp()
        return ctx.result

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * ctx.result


with forward_ad.dual_level():
    dual = forward_ad.make_dual(torch.tensor([0.0, 1.0]), torch.ones(2))
    print(forward_ad.unpack_dual(Moving.apply(dual)))


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class TooMany(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g, g


class WrongShape(TooMany):
    @staticmethod
    def backward(ctx, g):
        return torch.ones(5)


class NoRule(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1


x = torch.tensor([3.0, 1.0], requires_grad=True)
Once.apply(x).sum().backward()
print(x.grad)


def twice():
    (first,) = torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


for wrong in (
    twice,
    lambda: Tripled.apply(x),
    lambda: TooMany.apply(x).sum().backward(),
    lambda: WrongShape.apply(x).sum().backward(),
    lambda: NoRule.apply(x).sum().backward(),
    lambda: torch.autograd.gradcheck(WrongShape.apply, (x.double(),)),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__)
