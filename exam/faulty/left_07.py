# expect: GT201 because GT210
# cause: math.exp makes a number of the tensor, and nothing else is left of it
# wrong: gradient == 0
# cure: math.exp(-k) -> np.exp(-k)
import math

import numpy as np

import gradtape as gt


def damped(k):
    return math.exp(-k) * np.array([1.0, 2.0]).sum()  # <- here


gradient = gt.grad(damped)(0.5)  # <- asked
