# expect: GT201 or GT202 or GT205 because GT205
# cause: the leaf is rebound to its scaled copy, which is not a leaf, so that .grad is None
# wrong: W.grad is None
# cure: torch.randn(3, 2, requires_grad=True) * 0.1 -> (torch.randn(3, 2) * 0.1).requires_grad_()
import torch

torch.manual_seed(0)
X = torch.randn(20, 3)
Y = torch.randn(20, 2)
W = torch.randn(3, 2, requires_grad=True) * 0.1  # <- here
b = torch.zeros(2, requires_grad=True)

loss = ((X @ W + b - Y) ** 2).mean()
loss.backward()  # <- asked
print("gradient of W:", W.grad)  # <- asked
print("gradient of b:", b.grad)
