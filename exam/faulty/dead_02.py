# expect: GT404
# cause: the kernel's width is far too small, so exp(-d^2) underflows to zero everywhere
# wrong: not np.any(g)
# cure: np.array([1e-4]) -> np.array([0.5])
import numpy as np

import gradtape as gt

x = np.linspace(0.0, 5.0, 10)
centre = 2.345


def response(width):
    bump = np.exp(-(((x - centre) / width) ** 2))  # <- here
    return np.sum((bump - 1.0) ** 2)


g = gt.grad(response)(np.array([1e-4]))  # <- asked
