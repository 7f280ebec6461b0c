"""The Fourier transform by Stockham's algorithm: radix 2, two arrays of complex numbers that take turns.

Spectra and fast convolution where no library is at hand.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (3,)
PAPER = (10,)


def initialise(size):
    (levels,) = size
    rng = default_rng(24)
    return rng.standard_normal(2**levels), rng.standard_normal(2**levels), levels


def program(real, imaginary, levels):
    n = 2**levels
    x = np.empty(n, dtype=complex)
    x[:] = real + 1j * imaginary
    for level in range(levels):
        half = n // 2 ** (level + 1)
        y = np.empty(n, dtype=complex)
        shaped = x.reshape(2, half, 2**level)
        twiddle = numpy.exp(-2j * numpy.pi * numpy.arange(half) / (2 * half))[:, None]
        target = y.reshape(half, 2, 2**level)
        target[:, 0, :] = shaped[0] + shaped[1]
        target[:, 1, :] = (shaped[0] - shaped[1]) * twiddle
        x = y
    power = np.abs(x[1:]) ** 2
    return np.sum(np.log(1.0 + power))


def concatenated(real, imaginary, levels):
    n = 2**levels
    x = real + 1j * imaginary
    for level in range(levels):
        half = n // 2 ** (level + 1)
        shaped = x.reshape(2, half, 2**level)
        twiddle = numpy.exp(-2j * numpy.pi * numpy.arange(half) / (2 * half))[:, None]
        x = np.stack([shaped[0] + shaped[1], (shaped[0] - shaped[1]) * twiddle], axis=1).reshape(n)
    power = np.abs(x[1:]) ** 2
    return np.sum(np.log(1.0 + power))
