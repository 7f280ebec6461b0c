"""A constant network at first: the last layer starts at zero, so the first layer has no gradient yet."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
W, v = gt.Variable(rng.normal(size=(3, 6))), gt.Variable(np.zeros(6))
values = []
for _ in range(20):
    with gt.GradientTape() as tape:
        loss = np.mean((np.tanh(X @ W) @ v - y) ** 2)
    gW, gv = tape.gradient(loss, [W, v])
    W.assign_sub(0.1 * gW)
    v.assign_sub(0.1 * gv)
    values.append(float(loss))
assert values[-1] < values[0]
