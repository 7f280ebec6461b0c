# expect: GT403
# cause: sqrt of numbers that where does not take has an infinite slope, and 0 times infinity is NaN
# wrong: np.isnan(g).any()
# cure: np.sqrt(x) -> np.sqrt(np.where(np.sum(x) > 0, x, 1.0))
import numpy as np

import gradtape as gt

weights = np.array([0.2, 0.5, 0.3])


def amplitude(x):
    return np.where(np.sum(x) > 0, weights @ np.sqrt(x), 0.0)  # <- here


g = gt.grad(amplitude)(np.zeros(3))
