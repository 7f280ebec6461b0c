"""A spectral loss in torch, with a plot of the spectrum in NumPy."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(15)
synth = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 32))
optimizer = torch.optim.Adam(synth.parameters(), lr=1e-2)
controls = torch.randn(8, 4)
reference = torch.rand(8, 17)


def spectrum(wave):
    return torch.fft.rfft(wave).abs()


for _ in range(3):
    optimizer.zero_grad()
    loss = (spectrum(synth(controls)) - reference).abs().mean()
    loss.backward()
    optimizer.step()
picture = np.abs(np.fft.rfft(synth(controls).detach().numpy()))
assert picture.shape == (8, 17)
