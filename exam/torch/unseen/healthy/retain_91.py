"""Two losses on one graph: retain_graph for the first, and gradients that are meant to add up."""

import torch
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(4, 6)
heads = nn.ModuleList([nn.Linear(6, 1), nn.Linear(6, 3)])
opt = torch.optim.Adam([*shared.parameters(), *heads.parameters()], lr=0.01)
x, y, c = torch.randn(20, 4), torch.randn(20, 1), torch.randint(0, 3, (20,))
for _ in range(5):
    h = torch.tanh(shared(x))
    opt.zero_grad()
    nn.functional.mse_loss(heads[0](h), y).backward(retain_graph=True)
    nn.functional.cross_entropy(heads[1](h), c).backward()
    opt.step()
assert shared.weight.grad.abs().sum() > 0
