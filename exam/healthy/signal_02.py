"""A filter kernel by np.convolve that is normalised by its sum."""

import numpy as np

import gradtape as gt

signal = np.sin(np.arange(40.0)) + np.linspace(0, 1, 40)


def roughness(log_width):
    kernel = np.exp(-((np.arange(-3.0, 4.0) / np.exp(log_width)) ** 2))
    smooth = np.convolve(signal, kernel / kernel.sum(), mode="valid")
    return np.sum(np.diff(smooth) ** 2)


assert gt.grad(roughness)(0.0) < 0.0
assert gt.gradcheck(roughness, 0.2)
