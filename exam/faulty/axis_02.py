# expect: GT117
# cause: the signal has one axis, and the filter is normalised along axis 1
# wrong: raises AxisError
# cure: kernel.sum(axis=1 -> kernel.sum(axis=0
import numpy as np

import gradtape as gt

signal = np.sin(np.arange(40.0))


def smoothness(log_width):
    offsets = np.arange(-3.0, 4.0)
    kernel = np.exp(-((offsets / np.exp(log_width)) ** 2))
    kernel = kernel / kernel.sum(axis=1, keepdims=True)  # <- here
    smooth = np.convolve(signal, kernel, mode="valid")
    return np.sum(np.diff(smooth) ** 2)


print(gt.grad(smoothness)(0.0))
