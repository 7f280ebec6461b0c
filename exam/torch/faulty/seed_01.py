# expect: GT301
# cause: the gradient given to backward has one weight for each column, the output has 5 rows of 3
# wrong: raises RuntimeError
# cure: y.backward(torch.ones(3)) -> y.backward(torch.ones(5, 3))
import torch

torch.manual_seed(0)
x = torch.randn(5, 3, requires_grad=True)
weights = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 0.5], [1.0, 1.0, 1.0]])


def features(x):
    h = x @ weights
    return torch.tanh(h) * x


y = features(x)
y.backward(torch.ones(3))  # <- here
print(x.grad)
