# expect: GT309
# cause: the hand-written update changes a leaf in place outside of no_grad
# wrong: raises RuntimeError
# cure: for p in (w, b):\n        p -= lr * p.grad  # <- here -> for p in (w, b):\n        p.data -= lr * p.grad
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 30)
y = 2 * x - 0.5
w = torch.zeros((), requires_grad=True)
b = torch.zeros((), requires_grad=True)
lr = 0.1

for epoch in range(5):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    for p in (w, b):
        p -= lr * p.grad  # <- here
        p.grad.zero_()
print(w.item(), b.item())
