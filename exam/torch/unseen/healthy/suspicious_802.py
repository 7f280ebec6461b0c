"""BitFit: the optimiser has all biases and the head, the other weights are only left out and not frozen."""

import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.GELU())
head = nn.Linear(16, 3)
optimizer = torch.optim.Adam(
    [*(p for n, p in body.named_parameters() if n.endswith("bias")), *head.parameters()], lr=1e-3
)
start = body[0].weight.detach().clone()
for step in range(4):
    loss = nn.functional.cross_entropy(head(body(torch.randn(12, 8))), torch.randint(0, 3, (12,)))
    body.zero_grad()
    head.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.equal(body[0].weight, start)
