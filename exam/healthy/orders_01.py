"""Second derivatives with nested tapes, against the formula."""

import numpy as np

import gradtape as gt

x = gt.Variable([0.3, 1.2])
with gt.GradientTape() as outer:
    with gt.GradientTape() as inner:
        y = np.sum(np.sin(x) * x)
    first = inner.gradient(y, x)
second = outer.gradient(first, x)
v = x.numpy()
assert np.allclose(second.numpy(), 2 * np.cos(v) - v * np.sin(v))
