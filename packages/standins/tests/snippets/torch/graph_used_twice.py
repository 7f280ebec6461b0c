"""What a second gradient may go through: operations that saved nothing, and parts that the first did not need."""

import torch
from torch.nn import functional as F

losses = {
    "sum of a sum": lambda a, b: (a + b).sum(),
    "product": lambda a, b: (a * b).sum(),
    "two branches": lambda a, b: a.exp().sum() + b.exp().sum(),
    "added": lambda a, b: (a.exp() + b.exp()).sum(),
    "weighted mean": lambda a, b: (a.exp() * 2 + b.exp() * 3).mean(),
    "square of a sum": lambda a, b: ((a + b) ** 2).sum(),
    "dot": lambda a, b: a.sin() @ b.sin(),
    "numbers": lambda a, b: (a.sum() * 2 + b.sum() * 3).view(1),
    "cat": lambda a, b: torch.cat([a.exp(), b.exp()]).sum(),
    "stack": lambda a, b: torch.stack([a.exp(), b.exp()]).reshape(-1)[1:].sum(),
    "difference": lambda a, b: a.exp().sum() / 2 - b.exp().sum(),
    "max": lambda a, b: a.exp().max() - b.exp().sum(),
    "exp at the end": lambda a, b: (a.sum() - b.sum()).exp(),
    "abs at the end": lambda a, b: (a.exp().sum() - b.exp().sum()).abs(),
    "where": lambda a, b: torch.where(torch.tensor([True, False]), a.exp(), b.exp()).sum(),
    "mse_loss": lambda a, b: F.mse_loss(a.exp(), b.exp()),
}
for name, function in losses.items():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0], requires_grad=True)
    loss = function(a, b)
    print(name, torch.autograd.grad(loss, [a])[0])
    try:
        print("   then", torch.autograd.grad(loss, [b])[0])
    except RuntimeError as error:
        print("   then", type(error).__name__)


def twice(function):
    x = torch.ones(2, requires_grad=True)
    target = function(x)
    target.backward()
    try:
        target.backward()
        print(x.grad)
    except RuntimeError as error:
        print(type(error).__name__)


twice(lambda x: (x + 1).sum())
twice(lambda x: (x * x).sum())
twice(lambda x: x.reshape(1, 2).mean())

for make in (lambda x: x * 2, lambda x: x.exp(), lambda x: x + 2):
    x = torch.ones(2, requires_grad=True)
    h = make(x)
    h.sum().backward()
    print(torch.autograd.grad((h * 2).sum(), h)[0])
    try:
        (h + 1).sum().backward()
        print(x.grad)
    except RuntimeError as error:
        print(type(error).__name__)

calls = []
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
inner = b * 2
inner.register_hook(lambda g: calls.append("not needed"))
torch.autograd.grad((a * 3 + inner).sum(), [a])
print("hooks of what is not needed", calls)

x = torch.ones(2, requires_grad=True)
h = x * 3
h.register_hook(lambda g: calls.append(g.tolist()))
torch.autograd.backward([h.sum(), (h * h).sum()])
print(x.grad, calls)
