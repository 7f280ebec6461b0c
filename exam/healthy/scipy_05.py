"""SciPy's functions of plain arrays, math's of constants, and ufuncs of tensors."""

import math

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import norm

import gradtape as gt

data = np.random.default_rng(0).gamma(2.0, size=50)
reference = norm.logpdf(data).sum()
weights = np.exp(data - logsumexp(data))


def gap(p):
    shape, rate = np.exp(p)
    terms = shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(data) - rate * data
    return reference - np.sum(weights * terms) / math.sqrt(2 * math.pi)


assert gt.gradcheck(gap, np.zeros(2))
print(gt.grad(gap)(np.zeros(2)))
