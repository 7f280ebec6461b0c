import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, salary):
        h = torch.sigmoid(self.hidden(salary))
        return self.out(h).squeeze(-1)


torch.manual_seed(0)
incomes = torch.rand(40, 3)
granted = (incomes[:, 0] > incomes[:, 1]).float()
model = Scorer()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(5):
    loss = criterion(model(incomes), granted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (not model.hidden.weight.grad.any())
