# expect: GT111
# cause: under two decorators, the covariance is multiplied from the wrong side: (3,) @ (2, 3)
# wrong: raises ShapeError
# cure: v @ loadings -> loadings @ v
import functools

import numpy as np

import gradtape as gt

loadings = np.arange(6.0).reshape(2, 3)


def squared(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return np.sum(function(*args, **kwargs) ** 2)

    return wrapper


@gt.grad
@squared
def factor_scores(v):
    return v @ loadings  # <- here


g = factor_scores(np.ones(3))
