"""Style transfer: the image is optimised, the network is fixed, Gram matrices are compared."""

import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU()).eval().requires_grad_(False)


def gram(t):
    flat = t.flatten(2)
    return flat @ flat.mT / flat[0].numel()


style = gram(features(torch.rand(1, 3, 10, 10)))
content = features(torch.rand(1, 3, 10, 10))
canvas = torch.rand(1, 3, 10, 10).requires_grad_()
opt = torch.optim.Adam([canvas], lr=0.02)
start = None
for _ in range(10):
    f = features(canvas)
    loss = 100 * (gram(f) - style).square().mean() + (f - content).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        canvas.clamp_(0, 1)
    start = loss.item() if start is None else start
assert loss.item() < start
