"""Of two players each gets the gradient of its own loss, and of nothing else."""

import numpy as np

import gradtape as gt

a, b = gt.Variable(1.0), gt.Variable(-2.0)
with gt.GradientTape(persistent=True) as tape:
    first = (a * b - 1.0) ** 2
    second = b**2
g = tape.gradient(first, [a, b])
h = tape.gradient(second, b)
assert np.allclose(g[0].numpy(), 2 * (-2.0 - 1.0) * -2.0)
assert np.allclose(h.numpy(), -4.0)
