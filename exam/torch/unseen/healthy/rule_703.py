import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 10)
        self.out = nn.Linear(10, 4)

    def forward(self, words):
        h = self.embed(words)
        if self.training:
            h.register_hook(lambda g: g.clamp(-1, 1))
        return self.out(torch.tanh(h))


torch.manual_seed(0)
tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-3)
for step in range(3):
    words, tags = torch.randint(0, 30, (6, 7)), torch.randint(0, 4, (6, 7))
    loss = nn.functional.cross_entropy(tagger(words).flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
