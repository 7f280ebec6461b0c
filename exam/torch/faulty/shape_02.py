# expect: GT118
# cause: the labels come as a column (12, 1); cross_entropy wants class numbers of shape (12,)
# wrong: raises RuntimeError
# cure: criterion(logits, labels) -> criterion(logits, labels.squeeze(1))
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Measurements(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 7)
        self.y = torch.randint(0, 3, (n, 1))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(0)
loader = DataLoader(Measurements(24), batch_size=12)
model = nn.Sequential(nn.Linear(7, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, labels in loader:
    optimizer.zero_grad()
    logits = model(inputs)
    loss = criterion(logits, labels)  # <- here
    loss.backward()
    optimizer.step()
