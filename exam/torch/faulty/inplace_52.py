# expect: GT309
# cause: exp keeps its result for the backward pass, and /= overwrites it
# wrong: raises RuntimeError
# cure: p /= p.sum(dim=1, keepdim=True)  # <- here -> p = p / p.sum(dim=1, keepdim=True)
import torch
from torch import nn


def my_softmax(z):
    p = torch.exp(z - z.max(dim=1, keepdim=True).values)
    p /= p.sum(dim=1, keepdim=True)  # <- here
    return p


torch.manual_seed(0)
linear = nn.Linear(5, 3)
optimizer = torch.optim.SGD(linear.parameters(), lr=0.2)
x, labels = torch.randn(12, 5), torch.randint(0, 3, (12,))
for epoch in range(2):
    probabilities = my_softmax(linear(x))
    loss = -probabilities[range(12), labels].log().mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
