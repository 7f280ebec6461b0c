"""Gradients taken while a gradient is under way: in rules of one's own, in hooks, in checkpoints made by hand."""

import torch
from torch import nn


class CubeByAutograd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (found,) = torch.autograd.grad(inner**3, inner, g)
        return found


x = torch.tensor([2.0, 3.0], requires_grad=True)
CubeByAutograd.apply(x).sum().backward()
print(x.grad)


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, *inputs):
        ctx.function = function
        ctx.save_for_backward(*inputs)
        with torch.no_grad():
            return function(*inputs)

    @staticmethod
    def backward(ctx, g):
        inputs = [saved.detach().requires_grad_() for saved in ctx.saved_tensors]
        with torch.enable_grad():
            output = ctx.function(*inputs)
        torch.autograd.backward(output, g)
        return None, *(given.grad for given in inputs)


def product(a, b):
    return (a * b).sin()


x = torch.ones(2, requires_grad=True)
w = torch.tensor([2.0, 3.0], requires_grad=True)
Checkpoint.apply(product, x, w).sum().backward()
print(x.grad, w.grad)

x.grad = w.grad = None
Checkpoint.apply(lambda a, b: Checkpoint.apply(product, a, b) * b, x, w).sum().backward()
print("within another", x.grad, w.grad)

seen = []
x = torch.ones(2, requires_grad=True)
y = x * 3


def hook(gradient):
    seen.append(torch.is_grad_enabled())
    with torch.enable_grad():
        v = torch.tensor([1.0, 2.0], requires_grad=True)
        (v**2).sum().backward()
        seen.append(v.grad)
        seen.append(torch.autograd.grad((v**3).sum(), v)[0])
    return gradient * 2


y.register_hook(hook)
y.sum().backward()
print(x.grad, seen)


def tracked_answer(gradient):
    with torch.enable_grad():
        return x.detach().requires_grad_() * gradient


x = torch.ones(2, requires_grad=True)
y = x * 3
y.register_hook(tracked_answer)
y.sum().backward()
print(x.grad, x.grad.requires_grad)

layer = nn.Linear(2, 2)
nn.init.ones_(layer.weight)
nn.init.zeros_(layer.bias)


def module_hook(module, grad_input, grad_output):
    with torch.enable_grad():
        v = torch.ones(2, requires_grad=True)
        (v * grad_output[0].sum()).sum().backward()
        print("in the hook of a module", v.grad)


layer.register_full_backward_hook(module_hook)
layer(torch.ones(1, 2, requires_grad=True)).sum().backward()

with torch.no_grad():
    x = torch.tensor(2.0, requires_grad=True)
    with torch.enable_grad():
        y = x**3
    (first,) = torch.autograd.grad(y, x, create_graph=True)
print("create_graph under no_grad", first.requires_grad, torch.autograd.grad(first, x)[0])


class WithDefaults(torch.autograd.Function):
    @staticmethod
    def forward(x, factor=3.0, shift=1.0):
        return x * factor + shift

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.factor, shift = inputs
        print("set up with", ctx.factor, shift)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None, None


for call in (
    lambda x: WithDefaults.apply(x),
    lambda x: WithDefaults.apply(x, 4.0),
    lambda x: WithDefaults.apply(x, factor=5.0),
):
    x = torch.ones(2, requires_grad=True)
    call(x).sum().backward()
    print(x.grad)
