"""Square matrices and vectors of the same length: rows scaled by a vector on purpose, columns likewise."""

import torch

torch.manual_seed(0)
n = 9
A = torch.randn(n, n)
left = torch.ones(n, requires_grad=True)
right = torch.ones(n, requires_grad=True)
opt = torch.optim.Adam([left, right], lr=0.05)
costs = []
for _ in range(15):
    scaled = left[:, None] * A * right
    rows, columns = scaled.square().sum(dim=1), scaled.square().sum(dim=0)
    cost = (rows - 1).square().sum() + (columns - 1).square().sum()
    opt.zero_grad()
    cost.backward()
    opt.step()
    costs.append(cost.item())
assert costs[-1] < costs[0]
