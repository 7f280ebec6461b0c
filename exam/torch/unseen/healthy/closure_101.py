"""LBFGS with a closure that clears, and a line search that calls it many times."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 3), torch.randn(30, 1)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
opt = torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    return loss


start = closure().item()
for _ in range(4):
    opt.step(closure)
assert closure().item() < start
