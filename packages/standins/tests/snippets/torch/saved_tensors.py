"""Hooks on what operations save: packed on the way there, unpacked on the way back."""

import torch
from torch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks


def pack(x):
    print("pack", x)
    return x.detach().clone()


def unpack(x):
    print("unpack", x)
    return x


a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 4.0], requires_grad=True)
with saved_tensors_hooks(pack, unpack):
    product = a * b
    exponential = a.exp()
    total = a + b
product.sum().backward()
print(a.grad, b.grad)
(exponential + total).sum().backward()
print(a.grad)

scaled = a**3
scaled.grad_fn._raw_saved_self.register_hooks(lambda x: 2 * x, lambda x: x / 2)
scaled.sum().backward()
print(a.grad, b.grad)

with save_on_cpu():
    loss = (a.sigmoid() * b).sum()
loss.backward()
print(b.grad)

with disable_saved_tensors_hooks("not here"):
    try:
        with saved_tensors_hooks(pack, unpack):
            pass
    except RuntimeError as error:
        print(error)

x = torch.tensor([0.5], requires_grad=True)
y = x.exp()
print(y.grad_fn._saved_result, (x**2).grad_fn._saved_self, (x**2).grad_fn._saved_exponent)
handle = y.grad_fn.register_hook(lambda inputs, outputs: print("node", inputs, outputs))
y.grad_fn.register_prehook(lambda outputs: print("before", outputs))
y.backward(retain_graph=True)
handle.remove()
y.backward()
print(x.grad)
leaf = (x * 1).grad_fn.next_functions[0][0]
leaf.register_hook(lambda inputs, outputs: print("leaf", inputs, outputs))
(x * 5).sum().backward()

t = torch.tensor([1.0, 2.0], requires_grad=True)
z = t * 2
z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1]))
z.sum().backward()
print(t.grad)
