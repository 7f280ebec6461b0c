# expect: GT309
# cause: the update writes to a leaf that requires gradients, outside of no_grad
# wrong: raises RuntimeError
# cure: w -= 0.1 * w.grad -> w.data -= 0.1 * w.grad
import torch

X = torch.arange(12.0).reshape(6, 2) / 12
y = X.sum(1)
w = torch.zeros(2, requires_grad=True)
for epoch in range(5):
    loss = ((X @ w - y) ** 2).mean()
    loss.backward()
    w -= 0.1 * w.grad  # <- here
    w.grad.zero_()
