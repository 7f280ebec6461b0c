"""The head is replaced first and the optimiser made afterwards."""

import torch
from torch import nn


class SmallNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv1d(2, 6, 3)
        self.fc = nn.Linear(6, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean(dim=2))


torch.manual_seed(22)
model = SmallNet(classes=10)

model.fc = nn.Linear(6, 3)
new = model.fc.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

signals, labels = torch.randn(12, 2, 9), torch.randint(0, 3, (12,))
for epoch in range(4):
    loss = nn.functional.cross_entropy(model(signals), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (torch.equal(model.fc.weight, new))
