import torch
from torch import nn


class BagOfWords(nn.Module):
    def __init__(self, vocabulary=50, width=16, classes=3):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width, padding_idx=0)
        self.out = nn.Linear(width, classes)

    def embed(self, tokens):
        present = (tokens != 0).unsqueeze(-1)
        vectors = self.table(tokens) * present
        return vectors.sum(dim=1) / present.sum(dim=1).clamp(min=1)

    def forward(self, tokens):
        return self.out(self.embed(tokens))


torch.manual_seed(0)
model = BagOfWords()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    tokens = torch.randint(1, 50, (12, 9))
    tokens[:, 6:] = 0
    label = tokens[:, 0] % 3
    loss = nn.functional.cross_entropy(model(tokens), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.table.weight.grad is not None
