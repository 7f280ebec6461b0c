"""Gradients add up until they are set to zero."""

import torch

w = torch.ones(4, requires_grad=True)
for epoch in range(3):
    loss = (w * 3).sum()
    loss.backward()
    print(epoch, w.grad)
w.grad.zero_()
print(w.grad)
(w * 2).sum().backward()
print(w.grad)
held = w.grad
(w * 2).sum().backward()
print(held, held is w.grad)
w.grad = None
print(w.grad)
