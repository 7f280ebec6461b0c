# expect: GT118 or GT110
# cause: the two embeddings of a pair are joined along the axis of the examples, so that there are twice as many as labels
# wrong: raises ValueError
# cure: torch.cat([self.embed(a), self.embed(b)]) -> torch.cat([self.embed(a), self.embed(b)], dim=1)
# cure: nn.Linear(6, 3) -> nn.Linear(12, 3)
import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(20, 6), nn.Linear(6, 3)

    def forward(self, a, b):
        return self.out(torch.cat([self.embed(a), self.embed(b)]))  # <- here


torch.manual_seed(0)
model, criterion = Pair(), nn.CrossEntropyLoss()
a, b, y = torch.randint(0, 20, (8,)), torch.randint(0, 20, (8,)), torch.randint(0, 3, (8,))
loss = criterion(model(a, b), y)  # <- here
loss.backward()
