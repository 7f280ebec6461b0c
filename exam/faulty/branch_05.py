# expect: GT403
# cause: the missing values are chosen away after they were multiplied, and zero times NaN is NaN
# wrong: np.isnan(gradient).any()
# cure: table * w) -> np.where(np.isnan(table), 0.0, table) * w)
import numpy as np

import gradtape as gt

table = np.ones((4, 2))
table[2, 1] = np.nan


def total(w):
    known = np.where(np.isnan(table), 0.0, table * w)  # <- here
    return np.sum(known**2)


gradient = gt.grad(total)(np.ones(2))
