import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 4)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5, 1.0]))
x, y = torch.randn(12, 5), torch.randint(0, 3, (12,))
loss = criterion(model(x), y)
loss.backward()
assert torch.isfinite(loss)
