"""What is a leaf, what requires a gradient, and what switches that off."""

import torch

a = torch.ones(2, 2)
b = torch.ones(2, 2, requires_grad=True)
c = a + b
d = b.detach()
print(a.requires_grad, b.requires_grad, c.requires_grad, d.requires_grad)
print(a.is_leaf, b.is_leaf, c.is_leaf, d.is_leaf)
with torch.no_grad():
    e = b * 2
    print(e.requires_grad, torch.is_grad_enabled())
    with torch.enable_grad():
        print((b * 2).requires_grad)


@torch.no_grad()
def double(t):
    return t * 2


print(double(b))
with torch.set_grad_enabled(False):
    print((b + 1).requires_grad)
with torch.inference_mode():
    print((b + 1).requires_grad, torch.is_inference_mode_enabled())
print((b + 1).requires_grad)
a.requires_grad_()
print((a * b).sum())
print(c.data)
c.retain_grad()
c.sum().backward()
print(c.grad, b.grad, a.grad)
