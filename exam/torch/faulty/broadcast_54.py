# expect: GT101
# cause: labels (30,) are multiplied with scores (30, 1), so that each label meets each score
# wrong: hinge(svm(x), y).shape == (30, 30)
# cure: 1 - labels * scores -> 1 - labels * scores[:, 0]
import torch
from torch import nn


def hinge(scores, labels):
    return torch.clamp(1 - labels * scores, min=0)  # <- here


torch.manual_seed(0)
x = torch.randn(30, 2)
y = torch.sign(x[:, 0] - x[:, 1])
svm = nn.Linear(2, 1)
optimizer = torch.optim.SGD(svm.parameters(), lr=0.1, weight_decay=1e-3)
for step in range(5):
    loss = hinge(svm(x), y).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
