# expect: GT403
# cause: the stable form is chosen by where, but exp overflows in the other one
# wrong: np.isnan(g).any()
# cure: np.log(np.ones(2) @ np.exp(np.stack([0.0 * x, x]))) -> np.logaddexp(0.0, x)
import numpy as np

import gradtape as gt


def softplus(x):
    with np.errstate(over="ignore"):
        small = np.log(np.ones(2) @ np.exp(np.stack([0.0 * x, x])))  # <- here
    return np.where(x > 30.0, x, small)  # <- here


with np.errstate(over="ignore", invalid="ignore"):
    g = gt.grad(lambda x: np.sum(softplus(x)))(np.array([-1.0, 5.0, 1000.0]))
