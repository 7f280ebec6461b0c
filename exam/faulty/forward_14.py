# expect: GT401
# says: np.sqrt(
# cause: the variance by E[x^2] - E[x]^2 is negative by rounding, and its root is NaN
# wrong: np.isnan(g).any()
# cure: np.sqrt(variance) -> np.sqrt(variance + 1e-6)
import numpy as np

import gradtape as gt


def spread(x):
    variance = np.mean(x**2) - np.mean(x) ** 2 - 1e-9
    return np.sqrt(variance)  # <- here


g = gt.jit(gt.grad(spread))(np.full(5, 0.3))
