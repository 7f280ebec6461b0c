"""Hand-written gradients as a check: a list of derivatives by float(), none of which comes back."""

import numpy as np

import gradtape as gt


def loss(w):
    return np.sum(np.log1p(np.exp(w)) ** 2)


w = gt.Variable([0.3, -0.4, 1.0])
with gt.GradientTape() as tape:
    value = loss(w)
g = tape.gradient(value, w)
eps = 1e-6
numeric = [float(loss(w.numpy() + d) - loss(w.numpy() - d)) / (2 * eps) for d in eps * np.eye(3)]
assert np.allclose(g.numpy(), numeric)
