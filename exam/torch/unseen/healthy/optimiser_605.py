import copy

import torch
import torch.nn.functional as F
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 6))

    def forward(self, x):
        return self.net(x)


torch.manual_seed(0)
student = Tagger()
teacher = copy.deepcopy(student)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
first = student.net[0].weight.clone()
for step in range(4):
    x = torch.randn(16, 10)
    labels = torch.randint(0, 6, (16,))
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, dim=-1)
    logits = student(x)
    distil = F.kl_div(F.log_softmax(logits / 2, dim=-1), soft, reduction="batchmean")
    loss = F.cross_entropy(logits, labels) + distil
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (torch.equal(first, student.net[0].weight))
