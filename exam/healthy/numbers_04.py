"""log1p, expm1, logaddexp and log-sum-exp where the plain formulas would overflow."""

import numpy as np

import gradtape as gt


def f(x):
    return (
        np.sum(np.logaddexp(0.0, 800.0 * x)) + np.sum(np.log1p(np.exp(-np.abs(900.0 * x)))) + np.sum(np.expm1(-(x**2)))
    )


g = gt.grad(f)(np.array([-2.0, 0.5, 3.0]))
assert np.isfinite(g).all()
