"""Special functions and distributions."""

import autograd.numpy as np
import autograd.scipy.stats.norm as norm
from autograd import elementwise_grad, grad
from autograd.scipy.special import digamma, erf, expit, gammaln, j0, logsumexp
from autograd.scipy.stats import beta, gamma, multivariate_normal, poisson, t

x = np.array([0.3, 1.2, 2.5])
for function in (gammaln, digamma, erf, expit, j0):
    print(function(x), elementwise_grad(function)(x))
print(grad(logsumexp)(x))
print(grad(lambda p: np.sum(norm.logpdf(x, p[0], p[1])))(np.array([1.0, 2.0])))
print(grad(lambda m: np.sum(norm.cdf(x, m, 2.0)))(0.5))
print(grad(lambda p: np.sum(beta.logpdf(x / 3, p[0], p[1])))(np.array([1.5, 2.5])))
print(grad(lambda a: np.sum(gamma.logpdf(x, a)))(2.0))
print(grad(lambda mu: np.sum(poisson.logpmf(np.array([1, 2, 3]), mu)))(1.5))
print(grad(lambda df: np.sum(t.logpdf(x, df)))(4.0))
mean, cov = np.zeros(3), np.diag(np.array([1.0, 2.0, 3.0]))
print(grad(lambda m: multivariate_normal.logpdf(x, m, cov))(mean))
print(grad(lambda c: multivariate_normal.entropy(mean, c))(cov))
