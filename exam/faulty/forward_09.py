# expect: GT401
# says: np.log(
# cause: the logarithm of a difference that becomes negative
# wrong: np.isnan(value)
# cure: gap = 1.0 - x -> gap = 4.0 - x
import numpy as np

import gradtape as gt


def barrier(x):
    gap = 1.0 - x
    return -np.sum(np.log(gap))  # <- here


value, g = gt.value_and_grad(barrier)(np.array([0.5, 3.0]))
