"""Pretrained embeddings stay frozen by from_pretrained, and the optimiser is given all parameters."""

import torch
from torch import nn


class BagClassifier(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(vectors)
        self.fc = nn.Linear(vectors.shape[1], 3)

    def forward(self, tokens):
        return self.fc(self.embed(tokens).mean(dim=1))


torch.manual_seed(0)
vectors = torch.randn(40, 8)
model = BagClassifier(vectors.clone())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    loss = nn.functional.cross_entropy(model(torch.randint(0, 40, (16, 6))), torch.randint(0, 3, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.equal(model.embed.weight, vectors)
