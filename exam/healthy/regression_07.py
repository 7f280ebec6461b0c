"""Three quantiles at once: a column of targets against three predictions."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
y = rng.normal(size=300)
levels = np.array([0.1, 0.5, 0.9])


def pinball(q):
    error = y[:, None] - q
    return np.mean(np.maximum(levels * error, (levels - 1) * error))


q = np.zeros(3)
for _ in range(150):
    q = q - 1.0 * gt.grad(pinball)(q)
assert np.all(np.diff(q) > 0.5)
assert abs(q[1]) < 0.3
