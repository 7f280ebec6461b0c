"""Numbers that are infinite in the data and masked before anything is computed from them."""

import numpy as np

import gradtape as gt

y = np.array([1.0, np.nan, 3.0, np.inf])
x = np.arange(4.0)
seen = np.isfinite(y)
filled = np.where(seen, y, 0.0)


def loss(p):
    return np.sum(np.where(seen, p[0] * x + p[1] - filled, 0.0) ** 2)


p = np.zeros(2)
for _ in range(300):
    p = p - 0.1 * gt.grad(loss)(p)
assert np.allclose(p, [1.0, 1.0], atol=1e-3)
