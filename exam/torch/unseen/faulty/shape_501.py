# expect: GT111 or GT110
# cause: the keys are not transposed, so (B, T, D) is multiplied with (B, T, D)
# wrong: raises RuntimeError
# cure: q @ k / math.sqrt -> q @ k.transpose(-2, -1) / math.sqrt
import math

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(width, size), nn.Linear(width, size), nn.Linear(width, size)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        weights = torch.softmax(q @ k / math.sqrt(q.size(-1)), dim=-1)  # <- here
        return weights @ v


class MultiHead(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = nn.ModuleList(Head(width, width // heads) for _ in range(heads))
        self.project = nn.Linear(width, width)

    def forward(self, x):
        return self.project(torch.cat([head(x) for head in self.heads], dim=-1))


torch.manual_seed(35)
model = MultiHead(12, 3)
tokens = torch.randn(2, 7, 12)
loss = model(tokens).square().mean()
loss.backward()
