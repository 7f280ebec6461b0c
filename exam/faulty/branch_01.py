# expect: GT403
# cause: sqrt of the places that where does not take has an infinite slope, and 0 times infinity is NaN
# wrong: np.isnan(g).any()
# cure: np.sqrt(x) -> np.sqrt(np.where(x > 0, x, 1.0))
import numpy as np

import gradtape as gt


def safe_root(x):
    return np.where(x > 0, np.sqrt(x), 0.0)  # <- here


g = gt.grad(lambda x: np.sum(safe_root(x)))(np.array([4.0, 0.0, 1.0]))
