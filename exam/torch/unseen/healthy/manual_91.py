"""Linear regression by hand: updates under no_grad, gradients set to zero."""

import torch

torch.manual_seed(0)
X = torch.randn(40, 2)
y = X @ torch.tensor([2.0, -1.0]) + 0.5
w, b = torch.zeros(2, requires_grad=True), torch.zeros((), requires_grad=True)
for _ in range(60):
    loss = ((X @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad.zero_()
assert loss.item() < 0.1
