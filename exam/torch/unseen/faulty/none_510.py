# expect: GT201 or GT305 because GT208 or GT210
# cause: the spectrum is computed with NumPy from a detached array, so the synthesiser gets no gradient
# wrong: raises RuntimeError
# cure: torch.from_numpy(np.abs(np.fft.rfft(wave.detach().numpy()))) -> torch.fft.rfft(wave).abs()
import numpy as np
import torch
from torch import nn

torch.manual_seed(15)
synth = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 32))
optimizer = torch.optim.Adam(synth.parameters(), lr=1e-2)
controls = torch.randn(8, 4)
reference = torch.rand(8, 17)


def spectrum(wave):
    return torch.from_numpy(np.abs(np.fft.rfft(wave.detach().numpy())))  # <- here


for _ in range(3):
    optimizer.zero_grad()
    loss = (spectrum(synth(controls)) - reference).abs().mean()
    loss.backward()  # <- asked
    optimizer.step()
