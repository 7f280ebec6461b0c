# expect: GT201 because GT210
# cause: every step is written into a NumPy array, as a number
# wrong: gradient == 0
# cure: np.zeros(10) -> gt.zeros(10)
import numpy as np

import gradtape as gt


def distance(speed):
    trace = np.zeros(10)
    for i in range(10):
        speed = speed - 0.1 * speed**2
        trace[i] = speed  # <- here
    return np.sum(trace)


gradient = gt.grad(distance)(3.0)  # <- asked
