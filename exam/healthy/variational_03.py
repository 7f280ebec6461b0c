"""A planar flow: log densities with the log determinant of each layer."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
z = rng.normal(size=(50, 2))


def loss(p):
    activation = z @ p["w"] + p["b"]
    x = z + p["u"] * np.tanh(activation)[:, None]
    psi = (1 - np.tanh(activation) ** 2)[:, None] * p["w"]
    log_det = np.log(np.abs(1 + psi @ p["u"]))
    return np.mean(0.5 * np.sum((x - 1.0) ** 2, axis=1) - log_det)


p = {"w": np.array([0.5, 0.1]), "u": np.array([0.3, 0.2]), "b": np.array(0.0)}
start = loss(p)
for _ in range(30):
    g = gt.grad(loss)(p)
    p = {k: p[k] - 0.1 * g[k] for k in p}
assert loss(p) < start
