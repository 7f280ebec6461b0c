"""Gradual unfreezing: after two epochs the body joins the optimiser by add_param_group."""

import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(6, 6), nn.Linear(6, 3)
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
x, labels = torch.randn(24, 6), torch.randint(0, 3, (24,))
start = body.weight.clone()
for epoch in range(5):
    if epoch == 2:
        assert torch.equal(start, body.weight)
        body.requires_grad_(True)
        optimizer.add_param_group({"params": body.parameters(), "lr": 0.01})
    loss = nn.functional.cross_entropy(head(torch.tanh(body(x))), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not torch.equal(start, body.weight)
