"""Grad-CAM: a forward hook keeps the activation, retain_grad its gradient."""

import torch
from torch import nn

torch.manual_seed(0)
kept = {}
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()


def keep(module, inputs, output):
    output.retain_grad()
    kept["activation"] = output


handle = net[1].register_forward_hook(keep)
scores = net(torch.rand(1, 1, 8, 8))
scores[0, scores.argmax()].backward()
handle.remove()
activation = kept["activation"]
weights = activation.grad.mean(dim=(2, 3), keepdim=True)
cam = torch.relu((weights * activation.detach()).sum(dim=1))
assert cam.shape == (1, 6, 6)
