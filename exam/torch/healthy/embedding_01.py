"""Bag of words with padding: most rows of the table, and the padding row, have a gradient of zero in a batch."""

import torch
from torch import nn


class BagOfWords(nn.Module):
    def __init__(self, vocab=50, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens):
        mask = (tokens != 0).unsqueeze(-1)
        mean = (self.embed(tokens) * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return self.out(mean)


torch.manual_seed(0)
model = BagOfWords()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
tokens = torch.randint(1, 50, (6, 7))
tokens[2:, 5:] = 0
labels = torch.tensor([0, 1, 0, 1, 1, 0])
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
assert not model.embed.weight.grad[0].any()
