# expect: GT201 or GT305 because GT210 or GT208
# cause: the loss is made into a new tensor with torch.tensor, which has no history
# wrong: raises RuntimeError
# cure: torch.tensor(total / len(x), requires_grad=False) -> total / len(x)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(12, 3), torch.randn(12)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def compute_loss(x, y):
    total = 0.0
    for features, target in zip(x, y):
        total += (model(features)[0] - target) ** 2
    return torch.tensor(total / len(x), requires_grad=False)  # <- here


optimizer.zero_grad()
loss = compute_loss(x, y)
loss.backward()  # <- asked
optimizer.step()
