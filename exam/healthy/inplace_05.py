"""A plain array is filled before it is used, and its copies change afterwards; tracked parts go into a tensor."""

import numpy as np

import gradtape as gt

buffer = np.zeros(4)
buffer[1:3] = [2.0, 3.0]


def f(x):
    y = gt.zeros(4)
    y[:2] += x
    y[2:] -= x
    scratch = buffer.copy()
    scratch *= 2.0
    return np.sum((y * buffer) ** 2) + scratch.sum()


g = gt.grad(f)(np.array([1.0, 2.0]))
assert np.allclose(g, 2 * np.array([1.0, 2.0]) * np.array([0.0 + 9.0, 4.0 + 0.0]))
