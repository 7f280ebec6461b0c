# expect: GT201 or GT202 or GT205 because GT205
# says: w
# cause: w is the scaled result and not the leaf any more, so its grad is None
# wrong: raises TypeError
# cure: torch.randn(5, 1, requires_grad=True) -> (torch.randn(5, 1) * 0.1).requires_grad_()
# cure: w = w * 0.1 -> assert w.is_leaf
import torch

torch.manual_seed(14)
x = torch.randn(40, 5)
y = (x @ torch.ones(5, 1) > 0).float()
w = torch.randn(5, 1, requires_grad=True)
w = w * 0.1  # <- here
b = torch.zeros(1, requires_grad=True)

for step in range(5):
    p = torch.sigmoid(x @ w + b)
    loss = torch.nn.functional.binary_cross_entropy(p, y)
    loss.backward(retain_graph=True)
    with torch.no_grad():
        w -= 0.5 * w.grad  # <- asked
        b -= 0.5 * b.grad
    w.grad, b.grad = None, None
