# expect: GT115
# cause: the trajectory has two axes (time, coordinate) and is indexed with three
# wrong: raises IndexError
# cure: path[:, 0, 0] -> path[:, 0]
import numpy as np

import gradtape as gt


def drift(v0):
    path = np.stack([v0 * t for t in np.linspace(0, 1, 5)])
    return np.sum(path[:, 0, 0] ** 2)  # <- here


print(gt.grad(drift)(np.array([1.0, 2.0])))
