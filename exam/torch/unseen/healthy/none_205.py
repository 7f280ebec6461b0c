import torch

torch.manual_seed(0)
x, y = torch.randn(25, 2), torch.randn(25)
w = torch.zeros(2, requires_grad=True)
for _ in range(5):
    loss = (x @ w - y).square().mean()
    w.grad = None
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
assert w.abs().sum() > 0
