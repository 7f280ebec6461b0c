"""Robust regression with the Huber loss, an outlier among the data."""

import numpy as np

import gradtape as gt

x = np.linspace(0, 1, 21)
y = 2.0 * x + 1.0
y[5] = 50.0


def huber(r, delta=0.1):
    size = np.abs(r)
    return np.where(size < delta, 0.5 * r**2, delta * (size - 0.5 * delta))


def loss(p):
    return np.mean(huber(p[0] * x + p[1] - y))


p = np.zeros(2)
for _ in range(400):
    p = p - 5.0 * gt.grad(loss)(p)
assert np.allclose(p, [2.0, 1.0], atol=0.2)
