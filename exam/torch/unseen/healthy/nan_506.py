"""Attention with a large negative number for what is hidden; a causal mask with -inf is fine."""

import torch
from torch import nn

torch.manual_seed(34)
project = nn.Linear(4, 4)
optimizer = torch.optim.SGD(project.parameters(), lr=0.1)
words = torch.randn(3, 5, 4)
lengths = torch.tensor([5, 2, 0])
visible = (torch.arange(5)[None, :] < lengths[:, None])[:, None, :].expand(3, 5, 5)


def attend(x):
    q = project(x)
    scores = q @ x.transpose(1, 2) / 2.0
    scores = scores.masked_fill(~visible, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ x


for _ in range(3):
    loss = (attend(words) - words).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
causal = torch.full((5, 5), float("-inf")).triu(1)
out = ((project(words) @ words.transpose(1, 2) + causal).softmax(-1) @ words).mean()
out.backward()
assert torch.isfinite(project.weight.grad).all()
