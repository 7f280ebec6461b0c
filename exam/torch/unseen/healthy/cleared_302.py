import torch

torch.manual_seed(0)
x = torch.randn(40, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
w, b = torch.zeros(3, requires_grad=True), torch.zeros((), requires_grad=True)
for epoch in range(12):
    loss = (x @ w + b - y).square().mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 1e-3 * p.grad
            p.grad.detach_()
            p.grad.zero_()
last = 2 * x.T @ (x @ w + b - y).detach() / 40
loss = (x @ w + b - y).square().mean()
loss.backward()
assert torch.allclose(w.grad, last, atol=1e-4)
