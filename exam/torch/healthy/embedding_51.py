"""Skip-gram with negative sampling: two tables, of which a batch touches a few rows."""

import torch
import torch.nn.functional as F
from torch import nn


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.inside = nn.Embedding(vocab, dim)
        self.outside = nn.Embedding(vocab, dim)
        nn.init.zeros_(self.outside.weight)

    def forward(self, centre, context, negative):
        v = self.inside(centre)
        positive = (v * self.outside(context)).sum(-1)
        noise = torch.bmm(self.outside(negative), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(positive) + F.logsigmoid(-noise).sum(-1)).mean()


torch.manual_seed(0)
model = SkipGram(40, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
losses = []
for step in range(10):
    centre = torch.randint(0, 40, (16,))
    loss = model(centre, (centre + 1) % 40, torch.randint(0, 40, (16, 5)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
