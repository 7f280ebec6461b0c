"""Expectation and maximisation: responsibilities are constants in the M step."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(-3, 1, 50), rng.normal(2, 1, 50)])
means = gt.Variable([-1.0, 1.0])
for _ in range(15):
    resp = gt.softmax(-0.5 * (x[:, None] - means) ** 2, axis=1).numpy()
    for _ in range(5):
        with gt.GradientTape() as tape:
            loss = np.sum(resp * (x[:, None] - means) ** 2) / 100
        means.assign_sub(0.5 * tape.gradient(loss, means))
assert np.allclose(means.numpy(), [-3, 2], atol=0.5)
