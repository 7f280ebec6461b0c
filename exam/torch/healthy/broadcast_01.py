"""Pairwise distances by a broadcast that is meant: axes are added with None on both sides."""

import torch

torch.manual_seed(0)
points = torch.randn(10, 2, requires_grad=True)
wanted = torch.rand(10, 10)

optimizer = torch.optim.Adam([points], lr=0.05)
losses = []
for step in range(30):
    difference = points[:, None, :] - points[None, :, :]
    squared = difference.pow(2).sum(dim=-1)
    loss = (squared - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
