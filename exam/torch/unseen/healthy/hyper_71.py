"""A hypernetwork: the weights of the main layer are made by another network and used with functional_call."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
main = nn.Linear(4, 2).requires_grad_(False)
maker = nn.Linear(3, 4 * 2 + 2)
opt = torch.optim.Adam(maker.parameters(), lr=0.02)
context, x, y = torch.randn(3), torch.randn(15, 4), torch.randn(15, 2)
for _ in range(6):
    made = maker(context)
    weights = {"weight": made[:8].view(2, 4), "bias": made[8:]}
    loss = nn.functional.mse_loss(functional_call(main, weights, (x,)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert maker.weight.grad.abs().sum() > 0
