# expect: GT401
# cause: the count of an unseen word is 0, and p log p is computed as 0 times minus infinity
# wrong: not np.isfinite(value)
# cure: np.log(p) -> np.log(p + 1e-12)
import numpy as np

import gradtape as gt

counts = np.array([4.0, 0.0, 2.0])


def entropy(alpha):
    weighted = counts * alpha
    p = weighted / weighted.sum()
    return -np.sum(p * np.log(p))  # <- here


value, g = gt.value_and_grad(entropy)(np.ones(3))
