"""What `.grad` is after one more backward, after a write, in a hook, and when it is deleted."""

import numpy as np
import torch

x = torch.ones(2, requires_grad=True)
(x**2).sum().backward(create_graph=True)
first = x.grad
(x**3).sum().backward(create_graph=True)
print(first is x.grad, first.tolist(), x.grad.tolist(), first.requires_grad)

x = torch.ones(2, requires_grad=True)
(x**2).sum().backward()
first = x.grad
(x**3).sum().backward()
print(first is x.grad, first.tolist())
(x**3).sum().backward(create_graph=True)
print(first is x.grad, first.tolist(), x.grad.tolist(), x.grad.requires_grad)
second = x.grad
(x**3).sum().backward()
print(second is x.grad, second.tolist())


def retained(write):
    x = torch.ones(2, requires_grad=True)
    a = x * 3
    a.retain_grad()
    write(a)
    (a * a).sum().backward()
    print(a.grad, x.grad, a.retains_grad)


retained(lambda a: a.mul_(2))
retained(lambda a: a.__imul__(2))
retained(lambda a: a.__setitem__(0, 2.0))
retained(lambda a: a[:1].mul_(2))
retained(lambda a: a.exp_())

p = torch.ones(2, requires_grad=True)
q = torch.ones(2, requires_grad=True)
modes = []


def step(parameter):
    modes.append(torch.is_grad_enabled())
    parameter.sub_(parameter.grad)
    parameter.grad = None


p.register_post_accumulate_grad_hook(step)
(p * p + q).sum().backward()
print(p, p.grad, q.grad, modes)

q.register_post_accumulate_grad_hook(lambda parameter: modes.append(torch.is_grad_enabled()))
(q * q).sum().backward(create_graph=True)
print(modes)

x = torch.ones(2, requires_grad=True)
x.sum().backward()
kept = x.grad
del x.grad
print(x.grad, kept)
del x.grad
x.sum().backward()
print(x.grad)

w = torch.ones(2, requires_grad=True)
with torch.no_grad():
    print(w.numpy(), np.asarray(w), np.asarray(w * 2))
    w.numpy()[0] = 5
print(w)
with torch.inference_mode():
    print(w.numpy())
for attempt in (lambda: w.numpy(), lambda: (w * 2).numpy()):
    try:
        attempt()
    except RuntimeError as error:
        print(type(error).__name__)

x = torch.ones(2, requires_grad=True)
y = x * 2
with torch.no_grad():
    y.retain_grad()
    x.register_hook(lambda g: print("arrived", g))
y.sum().backward()
print(y.grad)
