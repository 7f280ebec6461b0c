"""The gradient by the input of a trained network whose parameters are frozen."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 4)).eval()
for p in net.parameters():
    p.requires_grad_(False)
image = torch.rand(1, 1, 8, 8, requires_grad=True)
score = net(image)[0].max()
(saliency,) = torch.autograd.grad(score, image)
assert saliency.abs().max() > 0
