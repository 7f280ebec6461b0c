"""Layer normalisation written by hand with keepdim, on a square batch."""

import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))
        self.shift = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        centred = x - x.mean(dim=1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.pow(2).mean(dim=1, keepdim=True) + 1e-5) + self.shift


torch.manual_seed(0)
x = torch.randn(8, 8)
norm = Norm(8)
out = norm(x)
(out - x.flip(1)).pow(2).mean().backward()
assert torch.allclose(out, nn.functional.layer_norm(x, (8,)), atol=1e-5)
assert norm.gain.grad.shape == (8,)
