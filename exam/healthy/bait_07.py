"""A saddle and a maximum: the gradient is exactly zero where the function is flat for a moment."""

import numpy as np

import gradtape as gt

f = lambda x: np.sum(np.cos(x)) + x[0] * x[1]
assert np.allclose(gt.grad(f)(np.zeros(2)), 0.0)
assert np.allclose(gt.hessian(f)(np.zeros(2)), [[-1.0, 1.0], [1.0, -1.0]])
