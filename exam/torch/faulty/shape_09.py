# expect: GT115 or GT118
# cause: the position embedding has 16 rows, and the sequence 20 tokens
# wrong: raises IndexError
# cure: max_length=16 -> max_length=32
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, max_length, dim=12):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(max_length, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        where = torch.arange(ids.shape[1])
        h = self.tokens(ids) + self.positions(where)  # <- here
        return self.out(h)


torch.manual_seed(0)
model = Encoder(vocab=30, max_length=16)  # <- here
ids = torch.randint(0, 30, (2, 20))
logits = model(ids)
loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
loss.backward()
