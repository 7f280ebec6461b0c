"""A square batch: as many examples as units, with a bias along the last axis."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
X = rng.normal(size=(5, 5))
W, b = gt.Variable(np.eye(5)), gt.Variable(np.zeros(5))
with gt.GradientTape() as tape:
    h = np.tanh(X @ W + b)
    h = h - h.mean(axis=0)
    loss = np.sum(h**2)
gW, gb = tape.gradient(loss, (W, b))
assert gW.shape == (5, 5)
assert gb.shape == (5,)
