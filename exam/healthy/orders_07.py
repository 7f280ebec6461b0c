"""High derivatives of a formula grow by their nature: there are no weights to scale."""

import numpy as np

import gradtape as gt


def f(x):
    return np.exp(3.0 * x) * np.sin(5.0 * x)


d = f
for _ in range(5):
    d = gt.grad(d)
root = 3.0 + 5.0j
assert np.allclose(d(0.7), (root**5 * np.exp(root * 0.7)).imag)
