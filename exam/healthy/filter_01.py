"""The likelihood of a Kalman filter in its two noise levels."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
level = np.cumsum(rng.normal(scale=0.3, size=40))
observed = level + rng.normal(scale=0.5, size=40)


def nll(theta):
    q, r = np.exp(theta[0]), np.exp(theta[1])
    m, p, total = 0.0, 1.0, 0.0
    for y in observed:
        p = p + q
        s = p + r
        total = total + 0.5 * (np.log(s) + (y - m) ** 2 / s)
        k = p / s
        m, p = m + k * (y - m), (1.0 - k) * p
    return total


theta = np.zeros(2)
start = nll(theta)
for _ in range(15):
    theta = theta - 0.02 * gt.grad(nll)(theta)
assert nll(theta) < start
