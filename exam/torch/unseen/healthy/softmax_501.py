"""The softmax runs over the classes; attention over the batch is meant elsewhere."""

import torch
from torch import nn

torch.manual_seed(51)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, labels = torch.randn(12, 6), torch.randint(0, 4, (12,))


def likelihood(batch, classes):
    scores = net(batch)
    probs = torch.softmax(scores, dim=1)
    return probs, -torch.log(probs[torch.arange(len(classes)), classes] + 1e-9).mean()


for _ in range(3):
    probs, loss = likelihood(x, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.allclose(probs.sum(1), torch.ones(12), atol=1e-4)
