"""Optimal transport in the logarithmic domain: logsumexp along either axis, in turn."""

import torch

torch.manual_seed(0)
x = torch.randn(11, 2, requires_grad=True)
y = torch.randn(11, 2) + 2
opt = torch.optim.SGD([x], lr=1.0)
costs = []
for _ in range(5):
    C = torch.cdist(x, y) ** 2
    f, g = torch.zeros(11), torch.zeros(11)
    for _ in range(15):
        f = -torch.logsumexp(g[None, :] - C, dim=1)
        g = -torch.logsumexp(f[:, None] - C, dim=0)
    plan = torch.exp(f[:, None] + g[None, :] - C)
    cost = (plan * C).sum() / 11
    opt.zero_grad()
    cost.backward()
    opt.step()
    costs.append(cost.item())
assert costs[-1] < costs[0]
