# expect: GT201 or GT512 because GT208
# cause: the helper that embeds runs under the decorator torch.no_grad, so that the embedding is not trained
# wrong: model.table.weight.grad is None
# cure: @torch.no_grad()  # <- here\n    def embed -> def embed
import torch
from torch import nn


class BagOfWords(nn.Module):
    def __init__(self, vocabulary=50, width=16, classes=3):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width, padding_idx=0)
        self.out = nn.Linear(width, classes)

    @torch.no_grad()  # <- here
    def embed(self, tokens):  # <- here
        present = (tokens != 0).unsqueeze(-1)
        vectors = self.table(tokens) * present  # <- here
        return vectors.sum(dim=1) / present.sum(dim=1).clamp(min=1)  # <- here

    def forward(self, tokens):
        return self.out(self.embed(tokens))  # <- here


torch.manual_seed(0)
model = BagOfWords()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    tokens = torch.randint(1, 50, (12, 9))
    tokens[:, 6:] = 0
    label = tokens[:, 0] % 3
    loss = nn.functional.cross_entropy(model(tokens), label)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
