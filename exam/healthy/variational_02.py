"""Mean field for an Ising chain; the fixed point has a zero gradient."""

import numpy as np

import gradtape as gt

field = np.array([0.5, -0.2, 0.1, 0.4])


def free_energy(m):
    pairs = -0.3 * np.sum(m[1:] * m[:-1]) - np.sum(field * m)
    up, down = (1 + m) / 2, (1 - m) / 2
    return pairs + np.sum(up * np.log(up) + down * np.log(down))


m = np.zeros(4)
for _ in range(200):
    m = m - 0.2 * gt.grad(free_energy)(m)
assert np.linalg.norm(gt.grad(free_energy)(m)) < 1e-6
