"""A custom rule for log(1 + exp(x)) that is exact for large x."""

import numpy as np

import gradtape as gt


@gt.custom_vjp
def log1pexp(x):
    return np.logaddexp(0.0, x)


log1pexp.defvjp(lambda x: (log1pexp(x), x), lambda x, g: (g / (1.0 + np.exp(-x)),))
x = np.array([-5.0, 0.0, 40.0])
g = gt.grad(lambda x: np.sum(log1pexp(x)))(x)
assert np.allclose(g, 1 / (1 + np.exp(-x)))
