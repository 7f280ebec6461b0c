"""Tables of all pairs that are meant: masked products, a margin of every pair, and soft assignments that are pooled."""

import torch
from torch import nn

torch.manual_seed(0)
charge, position = torch.rand(7, requires_grad=True), torch.randn(7, 3)
distance = (position[:, None] - position[None]).norm(dim=-1) + torch.eye(7)
energy = (charge[:, None] * charge / distance * (1 - torch.eye(7))).sum()
energy.backward()
assert charge.grad.shape == (7,)

net = nn.Linear(4, 1)
good, bad = net(torch.randn(9, 4))[:, 0], net(torch.randn(9, 4))[:, 0]
ranking = torch.relu(1 - (good[:, None] - bad[None, :])).mean()
slopes = torch.autograd.grad(ranking, net.parameters())
assert len(slopes) == 2
weights = torch.softmax(torch.randn(9), 0)
(good.detach()[:, None] * weights).sum(dim=1).sum()

assign = nn.Linear(6, 3)
centres = nn.Parameter(torch.randn(3, 6))
opt = torch.optim.SGD([*assign.parameters(), centres], lr=0.1)
x = torch.randn(20, 6)
for _ in range(3):
    soft = torch.softmax(assign(x), dim=1)  # each point over the clusters, then a sum over the points
    residual = x[:, None] - centres[None]
    pooled = (soft.unsqueeze(-1) * residual).sum(dim=0)
    loss = nn.functional.normalize(pooled, dim=1).square().mean() + pooled.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
