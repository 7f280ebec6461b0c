# expect: GT402
# cause: the length of a zero vector is sqrt(0); its derivative is 0 times infinity
# wrong: np.isnan(g).any()
# cure: np.sqrt(np.sum(w**2)) -> np.sqrt(np.sum(w**2) + 1e-12)
import numpy as np

import gradtape as gt


def regularised(w):
    return np.sum((w - 1.0) ** 2) + 0.1 * np.sqrt(np.sum(w**2))  # <- here


g = gt.grad(regularised)(np.zeros(3))
