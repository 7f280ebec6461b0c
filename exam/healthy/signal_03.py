"""The frequency of a damped oscillation by Gauss and Newton, with jacobian and lstsq."""

import numpy as np

import gradtape as gt

t = np.linspace(0, 3, 50)
model = lambda p: p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t)
data = model(np.array([2.0, 0.5, 4.0]))
p = np.array([1.5, 0.3, 3.8])
for _ in range(10):
    J, r = gt.jacobian(model)(p), model(p) - data
    p = p - np.linalg.lstsq(J, r, rcond=None)[0]
assert np.allclose(p, [2.0, 0.5, 4.0])
