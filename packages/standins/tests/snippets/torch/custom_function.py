"""Functions with gradients of their own."""

import torch


class LegendrePolynomial3(torch.autograd.Function):
    """(5 x^3 - 3 x) / 2."""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class Scale(torch.autograd.Function):
    """A tensor times a number, set up apart from the computation."""

    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


class Halves(torch.autograd.Function):
    """Two results, one of which has no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        print("needs", ctx.needs_input_grad)
        order = x.argsort()
        ctx.mark_non_differentiable(order)
        return x * y, order

    @staticmethod
    def backward(ctx, g, unused):
        return g * 10, None


x = torch.tensor([0.5, -1.0], requires_grad=True)
y = LegendrePolynomial3.apply(x)
print(y)
y.sum().backward()
print(x.grad)
print(Scale.apply(x, 3.0))
x.grad = None
Scale.apply(x, 3.0).sum().backward()
print(x.grad)
product, order = Halves.apply(x, torch.ones(2))
print(product, order)
product.sum().backward()
print(x.grad)
d = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(LegendrePolynomial3.apply, (d,)))
(once,) = torch.autograd.grad(LegendrePolynomial3.apply(x).sum(), x, create_graph=True)
print(torch.autograd.grad(once.sum(), x))
