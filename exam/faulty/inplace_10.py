# expect: GT312 or GT210
# says: table = gt.zeros((2, 3))
# cause: a row of a plain table is filled with tracked values
# wrong: raises DetachError
# cure: table = np.zeros((2, 3)) -> table = gt.zeros((2, 3))
import numpy as np

import gradtape as gt


def f(x):
    table = np.zeros((2, 3))
    table[0] = x  # <- here
    table[1] = x**2
    return np.sum(table)


g = gt.grad(f)(np.array([1.0, 2.0, 3.0]))
