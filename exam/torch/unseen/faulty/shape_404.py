# expect: GT115
# cause: the padding of the tokens is marked with -1, which is no row of the embedding
# wrong: raises IndexError
# cure: self.table(tokens).mean(dim=1) -> self.table(tokens.clamp(min=0)).mean(dim=1)
import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(12, 5), nn.Linear(5, 2)

    def forward(self, tokens):
        return self.out(self.table(tokens).mean(dim=1))  # <- here


torch.manual_seed(0)
tokens = torch.randint(0, 12, (6, 4))
tokens[2, 3:] = -1  # <- here
model = Bag()
loss = nn.functional.cross_entropy(model(tokens), torch.randint(0, 2, (6,)))
loss.backward()
