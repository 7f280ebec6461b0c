"""Momentum contrast: a queue of keys is overwritten in place, keys have no gradient, labels are all zero."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class MoCo(nn.Module):
    def __init__(self, encoder, width=6, size=32):
        super().__init__()
        self.query, self.key = encoder, copy.deepcopy(encoder).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(width, size), dim=0))
        self.pointer = 0

    @torch.no_grad()
    def enqueue(self, keys):
        n = len(keys)
        self.queue[:, self.pointer : self.pointer + n] = keys.T
        self.pointer = (self.pointer + n) % self.queue.shape[1]

    def forward(self, a, b):
        q = F.normalize(self.query(a), dim=1)
        with torch.no_grad():
            for slow, fast in zip(self.key.parameters(), self.query.parameters()):
                slow.data = slow.data * 0.99 + fast.data * 0.01
            k = F.normalize(self.key(b), dim=1)
        positive = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        negative = q @ self.queue.clone().detach()
        self.enqueue(k)
        return torch.cat([positive, negative], dim=1) / 0.2


torch.manual_seed(0)
model = MoCo(nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 6)))
optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9)
for step in range(5):
    x = torch.randn(8, 10)
    logits = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert logits.shape == (8, 33)
