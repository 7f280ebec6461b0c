"""A distance that can be zero: np.linalg.norm has a slope of zero there."""

import numpy as np

import gradtape as gt

goal = np.array([1.0, 2.0])
g = gt.grad(lambda x: np.linalg.norm(x - goal) + np.sum(x))(goal.copy())
assert np.allclose(g, 1.0)
