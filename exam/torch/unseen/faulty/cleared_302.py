# expect: GT511
# cause: the gradient is detached after the update, and not set to zero
# wrong: w.grad.norm() > 3 * last.norm()
# cure: p.grad.detach_()  # <- here -> p.grad.detach_()\n            p.grad.zero_()
import torch

torch.manual_seed(0)
x = torch.randn(40, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
w, b = torch.zeros(3, requires_grad=True), torch.zeros((), requires_grad=True)
for epoch in range(12):
    loss = (x @ w + b - y).square().mean()
    loss.backward()  # <- here
    with torch.no_grad():
        for p in (w, b):
            p -= 1e-3 * p.grad  # <- here
            p.grad.detach_()  # <- here
last = 2 * x.T @ (x @ w + b - y).detach() / 40
loss = (x @ w + b - y).square().mean()
loss.backward()  # <- here
