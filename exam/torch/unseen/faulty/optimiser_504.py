# expect: GT513 or GT512
# cause: the head is replaced after the optimiser was made, which still has the old one
# wrong: torch.equal(model.fc.weight, new)
# cure: optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # <- here\n -> \n
# cure: new = model.fc.weight.detach().clone() -> new = model.fc.weight.detach().clone()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)
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
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # <- here
model.fc = nn.Linear(6, 3)  # <- here
new = model.fc.weight.detach().clone()

signals, labels = torch.randn(12, 2, 9), torch.randint(0, 3, (12,))
for epoch in range(4):
    loss = nn.functional.cross_entropy(model(signals), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # <- asked
