"""A gated recurrent cell in batches, as a class."""

import numpy as np

import gradtape as gt


class GRU:
    def __init__(self, n_in, n, rng):
        self.w = {k: gt.Variable(rng.normal(size=(n_in + n, n)) * 0.3, name=k) for k in ("z", "r", "h")}

    def __call__(self, x, h):
        both = np.concatenate([x, h], axis=1)
        z, r = gt.sigmoid(both @ self.w["z"]), gt.sigmoid(both @ self.w["r"])
        candidate = np.tanh(np.concatenate([x, r * h], axis=1) @ self.w["h"])
        return (1 - z) * h + z * candidate


rng = np.random.default_rng(2)
cell, xs = GRU(2, 4, rng), rng.normal(size=(6, 3, 2))
with gt.GradientTape() as tape:
    h = np.zeros((3, 4))
    for x in xs:
        h = cell(x, h)
    loss = np.mean((h - 0.5) ** 2)
grads = tape.gradient(loss, cell.w)
assert all(grads[k].shape == (6, 4) and np.any(grads[k].numpy()) for k in "zrh")
