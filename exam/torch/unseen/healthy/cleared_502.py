"""Two optimisers that are both cleared."""

import torch
from torch import nn

torch.manual_seed(50)
body, head = nn.Sequential(nn.Linear(5, 8), nn.ReLU()), nn.Linear(8, 2)
body_opt = torch.optim.Adam(body.parameters(), lr=1e-3)
head_opt = torch.optim.SGD(head.parameters(), lr=1e-3)
x, labels = torch.randn(20, 5), torch.zeros(20, dtype=torch.long)
for _ in range(6):
    loss = nn.functional.cross_entropy(head(body(x)), labels)
    last = torch.autograd.grad(loss, head.bias, retain_graph=True)[0]
    body_opt.zero_grad()
    head_opt.zero_grad()
    loss.backward()
    body_opt.step()
    head_opt.step()
assert not (float(head.bias.grad.abs().sum()) > 1.5 * float(last.abs().sum()))
