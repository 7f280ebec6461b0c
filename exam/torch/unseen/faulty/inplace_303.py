# expect: GT309 or GT314
# cause: the result of the product is written into a buffer with out=, which autograd does not support
# wrong: raises RuntimeError
# cure: torch.matmul(x, weight, out=buffer)  # <- here -> buffer = torch.matmul(x, weight)
import torch

torch.manual_seed(0)
x, y = torch.randn(16, 5), torch.randn(16, 2)
weight = torch.randn(5, 2, requires_grad=True)
buffer = torch.empty(16, 2)
for _ in range(3):
    torch.matmul(x, weight, out=buffer)  # <- here
    loss = (buffer - y).square().mean()
    (gradient,) = torch.autograd.grad(loss, weight)
    with torch.no_grad():
        weight -= 0.1 * gradient
