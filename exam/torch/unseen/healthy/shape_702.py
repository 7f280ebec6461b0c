import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, longest=100):
        super().__init__()
        position = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(longest, width)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]


torch.manual_seed(0)
model = nn.Sequential(
    nn.Embedding(60, 16),
    PositionalEncoding(16),
    nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
    nn.Linear(16, 60),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(2):
    tokens = torch.randint(0, 60, (5, 12))
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
