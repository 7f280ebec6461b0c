"""Linear regression with a hand-written update of the leaves under no_grad."""

import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 40)
y = 3 * x - 0.5
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(200):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.2 * p.grad
            p.grad.zero_()
assert torch.allclose(torch.cat([w, b]), torch.tensor([3.0, -0.5]), atol=1e-3)
