"""Logistic regression with leaves that were scaled before they became leaves."""

import torch

torch.manual_seed(14)
x = torch.randn(40, 5)
y = (x @ torch.ones(5, 1) > 0).float()
w = (torch.randn(5, 1) * 0.1).requires_grad_()
assert w.is_leaf
b = torch.zeros(1, requires_grad=True)

for step in range(5):
    p = torch.sigmoid(x @ w + b)
    loss = torch.nn.functional.binary_cross_entropy(p, y)
    loss.backward(retain_graph=True)
    with torch.no_grad():
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    w.grad, b.grad = None, None
