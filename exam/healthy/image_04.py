"""A template is moved over a grid from np.meshgrid to match a blob."""

import numpy as np

import gradtape as gt

gx, gy = np.meshgrid(np.linspace(-2, 2, 20), np.linspace(-2, 2, 20))
blob = lambda c: np.exp(-((gx - c[0]) ** 2) - (gy - c[1]) ** 2)
target = blob(np.array([0.5, -0.4]))
centre = gt.Variable([0.0, 0.0])
for _ in range(40):
    with gt.GradientTape() as tape:
        loss = np.mean((blob(centre) - target) ** 2)
    centre.assign_sub(3.0 * tape.gradient(loss, centre))
assert np.allclose(centre.numpy(), [0.5, -0.4], atol=1e-2)
