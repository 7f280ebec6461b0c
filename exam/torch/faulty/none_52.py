# expect: GT201 because GT208
# cause: the helper that embeds the tokens is decorated with no_grad, so that the embedding never trains
# wrong: model.embed.weight.grad is None
# cure: @torch.no_grad()  # <- here -> @torch.enable_grad()
import torch
from torch import nn


class TextClassifier(nn.Module):
    def __init__(self, vocab=30, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.position = nn.Parameter(torch.zeros(6, dim))
        self.out = nn.Linear(dim, 2)

    @torch.no_grad()  # <- here
    def lookup(self, tokens):
        return self.embed(tokens) * self.embed.embedding_dim**0.5  # <- here

    def forward(self, tokens):
        h = self.lookup(tokens) + self.position
        return self.out(torch.tanh(h).mean(dim=1))


torch.manual_seed(0)
model = TextClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
tokens, labels = torch.randint(0, 30, (8, 6)), torch.randint(0, 2, (8,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
