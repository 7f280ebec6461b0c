"""Hooks on tensors and on modules."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
handle = y.register_hook(lambda g: print("arrived", g))
x.register_hook(lambda g: g * 2)
y.sum().backward()
print(x.grad)
handle.remove()
(x * 3).sum().backward()
print(x.grad)

layer = torch.nn.Linear(2, 1, bias=False)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[1.0, 2.0]]))
before = layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
after = layer.register_forward_hook(lambda module, args, output: output * 10)
print(layer(torch.ones(1, 2)))
before.remove()
after.remove()
print(layer(torch.ones(1, 2)))
