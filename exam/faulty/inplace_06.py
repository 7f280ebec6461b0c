# expect: GT312
# says: d = gt.zeros(3)
# cause: a tracked value is added into a part of a plain array
# wrong: raises DetachError
# cure: d = np.zeros(3) -> d = gt.zeros(3)
import numpy as np

import gradtape as gt


def energy(x):
    d = np.zeros(3)
    d[:2] += x  # <- here
    return np.sum(d**2)


g = gt.grad(energy)(np.array([1.0, 2.0]))
