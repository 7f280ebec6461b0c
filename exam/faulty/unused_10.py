# expect: GT201 because GT202
# says: shift
# cause: the second argument is asked for and the function does not use it
# wrong: not np.any(g)
# cure: scale * t -> scale * t + shift
import numpy as np

import gradtape as gt

t = np.linspace(-1.0, 1.0, 9)
seen = 1.5 * t - 0.3


def misfit(scale, shift):
    return np.sum((scale * t - seen) ** 2)  # <- here


g = gt.grad(misfit, argnums=1)(1.0, 0.0)  # <- here
