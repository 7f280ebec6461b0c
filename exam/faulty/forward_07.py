# expect: GT401
# cause: the logarithm of a negative number: the value is NaN, the gradient is not
# wrong: np.isnan(value)
# cure: np.log(z) -> np.log(np.abs(z))
import numpy as np

import gradtape as gt


def objective(mean):
    z = mean + np.array([-1.0, 0.5])
    return np.sum(np.log(z))  # <- here


with np.errstate(invalid="ignore"):
    value, gradient = gt.value_and_grad(objective)(np.array([0.1, 2.0]))
