"""A line fitted by gradient descent, written out."""

import torch

x = torch.linspace(-1, 1, 20)
y = 3 * x + 0.5
w = torch.zeros((), requires_grad=True)
b = torch.zeros((), requires_grad=True)
rate = 0.2
for step in range(60):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= rate * w.grad
        b -= rate * b.grad
        w.grad = None
        b.grad.zero_()
    if step % 20 == 0:
        print(step, loss.item(), w, b)
print(f"w = {w.item():.4f}, b = {b.item():.4f}")
