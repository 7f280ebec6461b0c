"""Arguments that PyTorch refuses: the kinds of errors."""

import torch
from torch.autograd import functional


def attempt(name, function):
    try:
        print(name, function())
    except Exception as error:
        print(name, type(error).__name__)


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


x = leaf(2)
attempt("no inputs", lambda: x.sum().backward(inputs=[]))
attempt("no inputs of backward", lambda: torch.autograd.backward(x.sum(), inputs=()))
attempt("no inputs of grad", lambda: torch.autograd.grad(x.sum(), []))
attempt("no outputs", lambda: torch.autograd.grad([], [x]))
attempt("no tensors", lambda: torch.autograd.backward([]))
attempt("too few seeds", lambda: torch.autograd.backward([x.sum(), (x * x).sum()], [torch.tensor(1.0)]))
attempt("too few seeds of grad", lambda: torch.autograd.grad([x.sum(), x.sum()], [x], [torch.tensor(1.0)]))
attempt("a seed for one", lambda: torch.autograd.backward([x * 2, (x * x).sum()], [torch.ones(2), None]))
print(x.grad)
attempt("seeds missing", lambda: torch.autograd.backward([x * 2, (x * x).sum()], [None, None]))
attempt("no seeds", lambda: torch.autograd.backward([x * 2, (x * x).sum()]))

z = torch.tensor(1 + 2j, requires_grad=True)
attempt("complex", lambda: (z * z).backward())
attempt("complex leaf", lambda: z.backward())
attempt("complex grad", lambda: torch.autograd.grad(z * z, z))
attempt("complex with a seed", lambda: torch.autograd.grad(z * z, z, torch.tensor(1 + 0j)))
attempt("its absolute value", lambda: torch.autograd.grad((z * z).abs(), z))

for name, call in {
    "mul": lambda out: torch.mul(x, 2, out=out),
    "exp": lambda out: torch.exp(x, out=out),
    "sum": lambda out: torch.sum(x, 0, out=out),
    "cat": lambda out: torch.cat([x, x], out=out),
    "matmul": lambda out: torch.matmul(x, x, out=out),
    "clamp": lambda out: torch.clamp(x, 0, 1, out=out),
    "stack": lambda out: torch.stack([x, x], out=out),
}.items():
    attempt(f"out of {name}", lambda call=call: call(torch.zeros(2)))
    with torch.no_grad():
        attempt(f"out of {name} under no_grad", lambda call=call: call(torch.zeros(0)))
attempt("out is a leaf", lambda: torch.mul(torch.ones(2), 2, out=x))
attempt("out requires a gradient", lambda: torch.mul(torch.ones(2), 2, out=x * 2))

ones = torch.ones(2)
attempt("constant", lambda: functional.jacobian(lambda x: torch.ones(2), ones, strict=True))
attempt("constant, not strict", lambda: functional.jacobian(lambda x: torch.ones(2), ones))
attempt("detached", lambda: functional.jacobian(lambda x: x.detach() * 2, ones, strict=True))
attempt("unused", lambda: functional.jacobian(lambda x, y: x * 2, (ones, ones), strict=True))
attempt("used", lambda: functional.jacobian(lambda x, y: x * y, (ones, ones), strict=True))
attempt("linear", lambda: functional.hessian(lambda x: x.sum(), ones, strict=True))
attempt("square", lambda: functional.hessian(lambda x: (x**2).sum(), ones, strict=True))
attempt("vjp", lambda: functional.vjp(lambda x: torch.ones(2), ones, ones, strict=True))
attempt("jvp", lambda: functional.jvp(lambda x: torch.ones(2), ones, ones, strict=True))
attempt("hvp", lambda: functional.hvp(lambda x: x.sum(), ones, ones, strict=True))
attempt("vhp", lambda: functional.vhp(lambda x: x.sum(), ones, ones, strict=True))
attempt("create_graph", lambda: functional.jacobian(lambda x: x * 2, ones, create_graph=True, strict=True))
attempt("no tensor", lambda: functional.jacobian(lambda x: 3.0, ones))
attempt("strict and vectorize", lambda: functional.jacobian(lambda x: x, ones, strict=True, vectorize=True))
attempt("forward-mode", lambda: functional.jacobian(lambda x: x * 2, ones, strategy="forward-mode"))
attempt("vectorize", lambda: functional.jacobian(lambda x: x * 2, ones, vectorize=True, strategy="forward-mode"))
attempt("strategy", lambda: functional.jacobian(lambda x: x * 2, ones, strategy="sideways"))

x = torch.arange(4.0)
attempt("backwards", lambda: x[::-1])
attempt("backwards by two", lambda: torch.ones(4, 4)[torch.tensor([0, 1]), ::-2])
attempt("a write backwards", lambda: x.__setitem__(slice(None, None, -1), 2.0))
attempt("step 0", lambda: x[::0])
attempt("empty", lambda: x[3:1])
attempt("flip", lambda: x.flip(0))
with torch.device("cpu"):
    attempt("on the device", lambda: torch.ones(2).device)
attempt("device", lambda: torch.device("cpu")(1))


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor=2.0):
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * 2


attempt("apply", lambda: torch.autograd.grad(Plain.apply(leaf(2)).sum(), [leaf(2)], allow_unused=True))
