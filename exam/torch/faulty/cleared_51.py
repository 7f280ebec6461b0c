# expect: GT511
# cause: the weights are updated by hand and their gradients are never reset
# wrong: abs(w.item() - 2.0) > 0.05 or abs(b.item() - 1.0) > 0.05
# cure: b.data -= learning_rate * b.grad -> b.data -= learning_rate * b.grad\n    w.grad = b.grad = None
import torch

torch.manual_seed(0)
x = torch.rand(60)
y = 2 * x + 1
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
learning_rate = 0.3
for epoch in range(150):
    loss = (w * x + b - y).pow(2).mean()
    loss.backward()  # <- here
    w.data -= learning_rate * w.grad  # <- here
    b.data -= learning_rate * b.grad
