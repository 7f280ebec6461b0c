"""Radial basis functions with as many centres as points, and centres that move."""

import numpy as np

import gradtape as gt

x = np.linspace(-1, 1, 16)
y = np.abs(x)
centres, weights = gt.Variable(x.copy()), gt.Variable(np.zeros(16))
first = None
for _ in range(40):
    with gt.GradientTape() as tape:
        phi = np.exp(-((x[:, None] - centres) ** 2) / 0.02)
        loss = np.mean((phi @ weights - y) ** 2)
    gc, gw = tape.gradient(loss, (centres, weights))
    centres.assign_sub(0.01 * gc)
    weights.assign_sub(0.5 * gw)
    first = first or float(loss)
assert float(loss) < 0.3 * first
