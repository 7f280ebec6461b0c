"""Where gradients are None, and what is printed then."""

import warnings

import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0)
z = x * 2
w = z * y
w.backward()
print(x.grad, y.grad)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(z.grad)
print(len(caught), caught[0].category.__name__)
unused = torch.ones(2, requires_grad=True)
print(unused.grad)
cut = torch.tensor(x.item(), requires_grad=True)
(cut * 2).backward()
print(cut.grad, x.grad)
k = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
best = k.argmax()
print(best, best.requires_grad)
(k[best] * 2).backward()
print(k.grad)
try:
    x.numpy()
except RuntimeError:
    print("numpy() is refused while a gradient is required")
print(x.detach().numpy(), float(x), int(x), bool(x), x.item())
try:
    bool(k)
except RuntimeError:
    print("several elements have no truth value")
try:
    k.item()
except RuntimeError:
    print("several elements are no number")
try:
    k[5]
except IndexError:
    print("index out of range")
try:
    k.sum(dim=3)
except IndexError:
    print("dimension out of range")
try:
    k.view(2, 2)
except RuntimeError:
    print("view of another size")
try:
    torch.cat([k, torch.ones(2, 2)])
except RuntimeError:
    print("cat of other shapes")
