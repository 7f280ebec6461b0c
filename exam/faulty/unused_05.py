# expect: GT201 because GT202
# cause: the function reads the array of the module, not its argument
# wrong: not np.any(gradient)
# cure: w * 2.0 -> weights * 2.0
import numpy as np

import gradtape as gt

w = np.ones(3)


def loss(weights):
    return np.sum((w * 2.0 - 1.0) ** 2)


gradient = gt.grad(loss)(w)  # <- here
