"""Rules of one's own that print when they are called, which is once."""

import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        print("forward", input.shape)
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        print("backward", grad_output, ctx.needs_input_grad)
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
y = MyReLU.apply(x)
print(y, y.grad_fn.name())
y.sum().backward()
print(x.grad)


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n=2):
        ctx.n = n
        return torch.round(x * n) / n

    @staticmethod
    def backward(ctx, g):
        return g, None


x = torch.tensor([0.3, 0.8], requires_grad=True)
z = STE.apply(x, 4)
z.backward(torch.tensor([1.0, 2.0]))
print(z, x.grad)


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.alpha, None


x.grad = None
GradReverse.apply(x, 0.5).sum().backward()
print(x.grad)


class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a + b

    @staticmethod
    def backward(ctx, ga, gb):
        a, b = ctx.saved_tensors
        print("two", ga, gb)
        return ga * b + gb, ga * a + gb


a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
p, s = Two.apply(a, b)
p.backward()
print(a.grad, b.grad, s)


class NP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = x.detach().numpy()
        ctx.save_for_backward(x)
        return torch.as_tensor(n**2, dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(g.numpy() * 2 * x.detach().numpy())


x = torch.tensor([1.0, 3.0], requires_grad=True)
NP.apply(x).sum().backward()
print(x.grad)


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 2


xd = torch.ones(2, dtype=torch.double, requires_grad=True)
try:
    torch.autograd.gradcheck(Wrong.apply, (xd,))
except Exception as e:
    print(type(e).__name__)
print(torch.autograd.gradcheck(Wrong.apply, (xd,), raise_exception=False))


class Shape(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum()

    @staticmethod
    def backward(ctx, g):
        return torch.ones(5)


try:
    Shape.apply(x).backward()
except RuntimeError:
    print("RuntimeError")
try:
    MyReLU()(x)
except Exception as e:
    print(type(e).__name__)
with torch.no_grad():
    print(MyReLU.apply(x).requires_grad)
