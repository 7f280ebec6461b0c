"""A straight-through estimator: rounded forwards, the identity backwards."""

import numpy as np

import gradtape as gt

x = np.linspace(-1, 1, 40)
y = 0.37 * x
quantise = lambda w: w + gt.stop_gradient(np.round(w * 8) / 8 - w)
w = gt.Variable(0.9)
for _ in range(30):
    with gt.GradientTape() as tape:
        loss = np.mean((quantise(w) * x - y) ** 2)
    w.assign_sub(0.5 * tape.gradient(loss, w))
assert abs(np.round(float(w) * 8) / 8 - 0.375) < 0.13
