# expect: GT314
# cause: math.log takes one number, not the rates of all
# wrong: raises ShapeError
# cure: math.log -> np.log
import math

import numpy as np

import gradtape as gt

counts = np.array([3.0, 7.0, 1.0])


def nll(theta):
    rates = np.exp(theta)
    return np.sum(rates) - counts @ math.log(rates)  # <- here


print(gt.grad(nll)(np.zeros(3)))
