# expect: GT202 or GT201 or GT512 or GT305
# cause: there is no gradient to clear before the first backward pass has made one
# wrong: raises AttributeError
# cure: w.grad.zero_()  # <- here\n    loss.backward() -> w.grad = None\n    loss.backward()
import torch

torch.manual_seed(0)
x, y = torch.randn(25, 2), torch.randn(25)
w = torch.zeros(2, requires_grad=True)
for _ in range(5):
    loss = (x @ w - y).square().mean()
    w.grad.zero_()  # <- here
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
