# expect: GT513
# cause: the learned temperature is a plain tensor with requires_grad, not a Parameter, so the module does not register it
# wrong: model.temperature.item() == 1.0
# cure: torch.ones(1, requires_grad=True) -> nn.Parameter(torch.ones(1))
import torch
from torch import nn


class Calibrated(nn.Module):
    def __init__(self, n_features, n_classes):
        super().__init__()
        self.linear = nn.Linear(n_features, n_classes)
        self.temperature = torch.ones(1, requires_grad=True)  # <- here

    def forward(self, x):
        return self.linear(x) / self.temperature


torch.manual_seed(0)
model = Calibrated(6, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)  # <- asked
x, y = torch.randn(45, 6), torch.randint(0, 3, (45,))
for epoch in range(6):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
