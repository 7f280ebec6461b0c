# expect: GT514
# cause: the first matrix is all ones, so every hidden unit computes the same and gets the same gradient
# wrong: torch.allclose(W1[:, 0], W1[:, 1])
# cure: torch.ones(4, 6).mul_(0.5).requires_grad_() -> torch.randn(4, 6).mul_(0.5).requires_grad_()
import torch
import torch.nn.functional as F

torch.manual_seed(1)
X = torch.randn(60, 4)
labels = torch.randint(0, 3, (60,))

W1 = torch.ones(4, 6).mul_(0.5).requires_grad_()  # <- here
b1 = torch.zeros(6, requires_grad=True)
W2 = torch.ones(6, 3, requires_grad=True)  # <- here
b2 = torch.zeros(3, requires_grad=True)
params = [W1, b1, W2, b2]

for step in range(15):
    hidden = torch.sigmoid(X @ W1 + b1)  # <- asked
    loss = F.cross_entropy(hidden @ W2 + b2, labels)
    loss.backward()  # <- asked
    with torch.no_grad():
        for p in params:
            p -= 0.3 * p.grad
            p.grad = None
