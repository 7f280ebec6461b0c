"""Meta learning: the inner step is differentiated too, and learns its own rate."""

import numpy as np

import gradtape as gt

target = np.array([1.0, -1.0])
inner = lambda w: np.sum((w - target) ** 2)


def after_one_step(rate):
    w = np.zeros(2)
    w = w - rate * gt.grad(inner)(w)
    return inner(w)


rate = 0.1
for _ in range(30):
    rate = rate - 0.02 * gt.grad(after_one_step)(rate)
assert abs(rate - 0.5) < 1e-2
