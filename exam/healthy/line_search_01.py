"""A line search tries a step into NaN and takes a shorter one, which is its job."""

import numpy as np

import gradtape as gt


def f(x):
    return np.sum(x) - np.sum(np.log(x - 1.0))


found = gt.optimize.minimize(f, np.array([1.5, 4.0]))
assert found.success
assert np.allclose(found.x, 2.0, atol=1e-4)
