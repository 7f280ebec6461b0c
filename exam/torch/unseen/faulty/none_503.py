# expect: GT201 or GT305 because GT210 or GT208
# cause: the losses of the batches are added up with .item() and the sum is made a tensor again
# wrong: embedding.weight.grad is None
# cure: total += bpr(user, good, bad).item() -> total = total + bpr(user, good, bad)
# cure: torch.tensor(total / 4, requires_grad=True) -> total / 4
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
embedding = nn.Embedding(30, 6)
optimizer = torch.optim.SGD(embedding.parameters(), lr=0.5)


def bpr(user, good, bad):
    u, g, b = embedding(user), embedding(good), embedding(bad)
    return -F.logsigmoid((u * g).sum(1) - (u * b).sum(1)).mean()


for epoch in range(3):
    total = 0.0
    for _ in range(4):
        user, good, bad = torch.randint(0, 30, (3, 8))
        total += bpr(user, good, bad).item()  # <- here
    loss = torch.tensor(total / 4, requires_grad=True)  # <- here
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
