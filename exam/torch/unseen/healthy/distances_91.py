"""All pairs of points and centres, with the axes written out."""

import torch

torch.manual_seed(0)
points = torch.randn(25, 2)
centres = torch.randn(25, 2, requires_grad=True)
opt = torch.optim.SGD([centres], lr=0.1)
for _ in range(5):
    squared = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(-1)
    loss = squared.min(dim=1).values.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert centres.grad.shape == (25, 2)
