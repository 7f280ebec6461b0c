"""The three optimisers on one function."""

import autograd.numpy as np
from autograd import grad
from autograd.misc.optimizers import adam, rmsprop, sgd


def loss(params, i):
    x, y = params
    return np.sum((x - 1.0) ** 2) + (y + 2.0) ** 2


start = (np.array([3.0, -1.0]), 0.5)
for optimise in (sgd, rmsprop, adam):
    x, y = optimise(grad(loss), start, num_iters=25, step_size=0.1)
    print(optimise.__name__, x, y)
