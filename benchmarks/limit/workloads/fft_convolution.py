"""A signal convolved with a kernel of the same length by the fast Fourier transform: the misfit by both."""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
ROWS = {"fft_convolution": 65536}
SMALL = 256


def initialise(size):
    rng = default_rng(31337)
    return [rng.standard_normal(size), rng.standard_normal(size) / size**0.5, rng.standard_normal(size)]


def program(signal, kernel, wanted):
    found = np.fft.irfft(np.fft.rfft(signal) * np.fft.rfft(kernel), len(signal))
    return np.mean((found - wanted) ** 2)


def program_torch(torch, signal, kernel, wanted):
    found = torch.fft.irfft(torch.fft.rfft(signal) * torch.fft.rfft(kernel), len(signal))
    return torch.mean((found - wanted) ** 2)
