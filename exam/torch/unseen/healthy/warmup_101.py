"""The body is left out of the optimiser for the first 15 steps and added then."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 4), torch.randn(40, 1)
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
body.requires_grad_(False)
opt = torch.optim.SGD(head.parameters(), lr=0.05)
before = body.weight.clone()
for step in range(30):
    if step == 15:
        body.requires_grad_(True)
        opt.add_param_group({"params": body.parameters()})
    loss = (head(torch.tanh(body(x))) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not torch.equal(before, body.weight)
