import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(12, 5), nn.Linear(5, 2)

    def forward(self, tokens):
        return self.out(self.table(tokens.clamp(min=0)).mean(dim=1))


torch.manual_seed(0)
tokens = torch.randint(0, 12, (6, 4))
tokens[2, 3:] = -1
model = Bag()
loss = nn.functional.cross_entropy(model(tokens), torch.randint(0, 2, (6,)))
loss.backward()
assert torch.isfinite(loss)
