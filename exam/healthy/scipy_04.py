"""Special functions: a negative binomial likelihood with gammaln."""

import numpy as np
from scipy import special

import gradtape as gt

counts = np.array([0.0, 3.0, 1.0, 7.0, 2.0])


def nll(theta):
    r, p = np.exp(theta[0]), special.expit(theta[1])
    terms = special.gammaln(counts + r) - special.gammaln(r) + counts * np.log(1 - p) + r * np.log(p)
    return -np.sum(terms)


theta = np.zeros(2)
assert gt.gradcheck(nll, theta)
