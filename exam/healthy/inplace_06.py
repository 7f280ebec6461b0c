"""Results of plain arrays go into `out=`; tracked ones do not."""

import numpy as np

import gradtape as gt

work = np.empty(5)
grid = np.linspace(0.0, 1.0, 5)
np.multiply(grid, 2.0, out=work)


def f(a):
    return np.sum(np.sin(a * work))


g = gt.grad(f)(0.3)
assert np.allclose(g, np.sum(np.cos(0.3 * 2 * grid) * 2 * grid))
