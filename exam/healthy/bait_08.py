"""Softmax over two axes at once, for a heat map whose expectation is taken along both."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
score = gt.Variable(rng.normal(size=(6, 6)))
rows, columns = np.arange(6.0)[:, None], np.arange(6.0)
with gt.GradientTape() as tape:
    heat = gt.softmax(score, axis=(0, 1))
    y, x = np.sum(heat * rows), np.sum(heat * columns)
    loss = (y - 2.0) ** 2 + (x - 3.0) ** 2
g = tape.gradient(loss, score)
assert np.isclose(float(np.sum(heat)), 1.0)
assert abs(g.numpy().sum()) < 1e-10
