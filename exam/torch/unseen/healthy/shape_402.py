import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(20, 6), nn.Linear(12, 3)

    def forward(self, a, b):
        return self.out(torch.cat([self.embed(a), self.embed(b)], dim=1))


torch.manual_seed(0)
model, criterion = Pair(), nn.CrossEntropyLoss()
a, b, y = torch.randint(0, 20, (8,)), torch.randint(0, 20, (8,)), torch.randint(0, 3, (8,))
loss = criterion(model(a, b), y)
loss.backward()
assert torch.isfinite(loss)
