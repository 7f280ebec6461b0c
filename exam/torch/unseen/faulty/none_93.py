# expect: GT201 or GT202 or GT512 because GT205 or GT202
# cause: the weights are multiplied after requires_grad was set: w is not the leaf any more, and its grad stays None
# wrong: w.grad is None
# cure: w = torch.randn(3, 1, requires_grad=True) * 0.01 -> w = (torch.randn(3, 1) * 0.01).requires_grad_()
import torch

torch.manual_seed(0)
X = torch.randn(20, 3)
t = X @ torch.tensor([[1.0], [-2.0], [0.5]])
w = torch.randn(3, 1, requires_grad=True) * 0.01  # <- here
for step in range(3):
    error = ((X @ w - t) ** 2).mean()
    error.backward()
    grad = w.grad  # <- asked
    if grad is None:
        break
    with torch.no_grad():
        w -= 0.1 * grad
        w.grad.zero_()
