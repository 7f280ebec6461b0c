"""Sequence to sequence with teacher forcing: the fed-back token is an argmax, which is not meant to have a gradient."""

import random

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
random.seed(0)
embed, encoder, cell, out = nn.Embedding(12, 8), nn.GRU(8, 10, batch_first=True), nn.GRUCell(8, 10), nn.Linear(10, 12)
parts = nn.ModuleList([embed, encoder, cell, out])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
source = torch.randint(1, 12, (6, 5))
target = source.flip(1)
for step in range(5):
    _, h = encoder(embed(source))
    h, token, loss = h[0], torch.zeros(6, dtype=torch.long), 0.0
    for t in range(target.shape[1]):
        h = cell(embed(token), h)
        logits = out(h)
        loss = loss + F.cross_entropy(logits, target[:, t])
        token = target[:, t] if random.random() < 0.5 else logits.argmax(dim=1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad is not None for p in parts.parameters())
