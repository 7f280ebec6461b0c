"""A reshape to a column and one to a row, and the outer forms of ufuncs."""

import numpy as np

import gradtape as gt

t = gt.tensor(np.linspace(0.0, 1.0, 6), requires_grad=True)
a = (t.reshape(-1, 1) - t.reshape(1, -1)) ** 2
b = np.subtract.outer(t, t) ** 2
c = np.outer(t, np.ones(6)) - t[None, :]
((a - b) + (a - c**2) + a).sum().backward()
assert np.allclose((a - b).numpy(), 0.0)
assert abs(float(t.grad.sum())) < 1e-10
