"""One offset for all examples is stretched on purpose."""

import numpy as np

import gradtape as gt

y = np.random.default_rng(5).normal(3.0, 1.0, size=40)


def loss(offset):
    return np.mean((offset - y) ** 2)


b = np.zeros(1)
for _ in range(100):
    b = b - 0.2 * gt.grad(loss)(b)
assert np.allclose(b, y.mean())
