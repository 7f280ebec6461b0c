import torch

torch.manual_seed(0)
x, y = torch.randn(16, 5), torch.randn(16, 2)
weight = torch.randn(5, 2, requires_grad=True)
buffer = torch.empty(16, 2)
for _ in range(3):
    buffer = torch.matmul(x, weight)
    loss = (buffer - y).square().mean()
    (gradient,) = torch.autograd.grad(loss, weight)
    with torch.no_grad():
        weight -= 0.1 * gradient
assert torch.isfinite(loss)
