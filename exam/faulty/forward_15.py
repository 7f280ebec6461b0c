# expect: GT401
# says: np.log(
# cause: in the third round of a loop the step has made the scale negative, and its logarithm NaN
# wrong: scale < 0
# cure: scale = scale - 0.9 * g -> scale = scale * np.exp(-0.1 * g)
import numpy as np

import gradtape as gt

data = np.array([0.2, -0.1, 0.3])


def nll(s):
    quadratic = 0.5 * np.sum((data / s) ** 2)
    return quadratic + 3.0 * np.log(s)  # <- here


scale = 2.0
for _ in range(4):
    g = gt.grad(nll)(scale)
    scale = scale - 0.9 * g
