"""The states are written into an array for a plot, by .item(), while the gradient goes on."""

import numpy as np

import gradtape as gt

trace = np.zeros(10)


def final(speed):
    for i in range(10):
        speed = speed - 0.1 * speed**2
        trace[i] = speed.item()
    return speed


assert gt.grad(final)(3.0) > 0
assert trace[0] > trace[9] > 0
