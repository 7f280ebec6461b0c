"""A persistent tape answers several questions; a target of many elements means their sum."""

import numpy as np

import gradtape as gt

x = gt.Variable([1.0, 2.0, 3.0])
with gt.GradientTape(persistent=True) as tape:
    y = x**2
    z = np.sum(y)
assert np.allclose(tape.gradient(y, x).numpy(), tape.gradient(z, x).numpy())
assert np.allclose(tape.gradient(z, y).numpy(), 1.0)
assert np.allclose(tape.jacobian(y, x).numpy(), np.diag([2.0, 4.0, 6.0]))
