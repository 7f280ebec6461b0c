"""Greedy decoding for the log between training steps, beam scores from topk, and argmax fed back without a gradient."""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, words=12, width=10):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(words, width), nn.GRUCell(width, width), nn.Linear(width, words)

    def forward(self, state, target, forced):
        token, logits = torch.zeros(len(state), dtype=torch.long), []
        for t in range(target.shape[1]):
            state = self.cell(self.embed(token), state)
            logits.append(self.out(state))
            token = target[:, t] if forced else logits[-1].topk(2, dim=1).indices[:, 0]
        return torch.stack(logits, dim=1)


torch.manual_seed(0)
decoder = Decoder()
optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-2)
for step in range(4):
    state, target = torch.randn(5, 10), torch.randint(0, 12, (5, 6))
    logits = decoder(state, target, forced=step % 2 == 0)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        greedy = decoder(state, target, forced=False).argmax(dim=-1)
assert greedy.shape == (5, 6)
