# expect: GT201 because GT208
# cause: the attention scores go through .data, so that query and key get no gradient
# wrong: attention.query.weight.grad is None
# cure: scores.data / -> scores /
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1)
        weights = torch.softmax(scores.data / math.sqrt(x.shape[-1]), dim=-1)  # <- here
        return weights @ self.value(x)


torch.manual_seed(0)
attention = SelfAttention(8)
optimizer = torch.optim.Adam(attention.parameters(), lr=1e-3)
sequence = torch.randn(4, 6, 8)
for _ in range(3):
    optimizer.zero_grad()
    out = attention(sequence)
    loss = (out - sequence.flip(1)).pow(2).mean()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
