"""The spectrum of a signal is fitted: through the FFT to the absolute value."""

import numpy as np

import gradtape as gt

n = np.arange(64)
wanted = np.abs(np.fft.rfft(1.5 * np.sin(2 * np.pi * 5 * n / 64)))


def mismatch(amplitude):
    spectrum = np.fft.rfft(amplitude * np.sin(2 * np.pi * 5 * n / 64) + 0.01 * np.cos(n))
    return np.mean((np.abs(spectrum) - wanted) ** 2)


amplitude = 1.0
for _ in range(30):
    amplitude = amplitude - 0.01 * gt.grad(mismatch)(amplitude)
assert abs(amplitude - 1.5) < 0.05
