"""A scalar parameter, a per-channel scale and a baseline of the batch are broadcast as they should be."""

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels, 1, 1))
        self.temperature = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.gain * x / self.temperature


torch.manual_seed(0)
scale = Scale(3)
images = torch.rand(4, 3, 5, 5)
mean = images.mean(dim=(0, 2, 3), keepdim=True)
out = scale(images - mean)
reward = torch.tensor([1.0, 0.0, 2.0, 1.0])
loss = (out.mean(dim=(1, 2, 3)) * (reward - reward.mean())).mean() + out.pow(2).mean()
loss.backward()
assert scale.gain.grad.shape == (3, 1, 1)
assert scale.temperature.grad.shape == (1,)
