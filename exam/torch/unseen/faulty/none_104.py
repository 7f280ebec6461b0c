# expect: GT201 or GT305 because GT203 or GT202
# cause: the attribute is spelled require_grad, which Python accepts and PyTorch does not read
# wrong: raises RuntimeError
# cure: theta.require_grad = True -> theta.requires_grad = True
import torch

theta = torch.tensor([0.3, -0.4])
theta.require_grad = True  # <- here
for _ in range(3):
    energy = (theta**4 - theta**2).sum()
    energy.backward()  # <- here
    with torch.no_grad():
        theta -= 0.1 * theta.grad
        theta.grad = None
