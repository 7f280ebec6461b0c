"""Gradient norms of two tasks by autograd.grad with retain_graph, used as constants to balance the two losses."""

import torch
from torch import nn

torch.manual_seed(0)
trunk, a, b = nn.Linear(4, 6), nn.Linear(6, 1), nn.Linear(6, 3)
everything = nn.ModuleList([trunk, a, b])
opt = torch.optim.Adam(everything.parameters(), lr=0.01)
x, ya, yb = torch.randn(16, 4), torch.randn(16, 1), torch.randint(0, 3, (16,))
for _ in range(4):
    h = torch.tanh(trunk(x))
    losses = [nn.functional.mse_loss(a(h), ya), nn.functional.cross_entropy(b(h), yb)]
    norms = [torch.autograd.grad(each, trunk.weight, retain_graph=True)[0].norm() for each in losses]
    weights = [norms[0].item() / (n.item() + 1e-8) for n in norms]
    total = sum(w * each for w, each in zip(weights, losses))
    opt.zero_grad()
    total.backward()
    opt.step()
assert len(weights) == 2
assert weights[0] > 0.99
