"""Soft k-means: every point meets every centre by cdist, and the assignment is a softmax over the centres."""

import torch

torch.manual_seed(1)
points = torch.cat([torch.randn(20, 2) + c for c in (-4, 0, 4)])
centres = torch.randn(3, 2, requires_grad=True)
opt = torch.optim.SGD([centres], lr=0.2, momentum=0.5)
for _ in range(30):
    d = torch.cdist(points, centres).square()
    soft = torch.softmax(-d, dim=1)
    cost = (soft * d).sum(dim=1).mean()
    opt.zero_grad()
    cost.backward()
    opt.step()
assert torch.isfinite(centres).all()
assert cost.item() < 20
