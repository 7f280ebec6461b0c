# expect: GT401
# says: np.exp(
# cause: the exponential overflows, and inf - inf is NaN afterwards; the overflow is the cause
# wrong: np.isnan(value)
# cure: rates * 500.0 -> rates * 5.0
import numpy as np

import gradtape as gt

rates = np.array([1.0, 2.0])


def difference(k):
    s = k * rates * 500.0
    up = np.exp(s)  # <- here
    return np.sum(up - np.max(up))


value, g = gt.value_and_grad(difference)(1.0)
