"""The gradient of a Monte Carlo estimate: a normal fitted to a posterior by sampling."""

import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.norm as norm
from autograd import grad, value_and_grad
from autograd.misc.optimizers import rmsprop

data = np.array([1.2, 0.7, 2.1, 1.6])
rng = npr.RandomState(4)


def log_posterior(mean):
    prior = norm.logpdf(mean, 0.0, 3.0)
    return prior + np.sum(norm.logpdf(data[:, None], mean, 0.8), axis=0)


def bound(parameters, step):
    centre, log_width = parameters
    draws = centre + np.exp(log_width) * rng.normal(size=64)
    return -(np.mean(log_posterior(draws)) + log_width)


print(*value_and_grad(bound)((0.0, 0.0), 0))
centre, log_width = rmsprop(grad(bound), (0.0, 0.0), num_iters=80, step_size=0.05)
print(centre, np.exp(log_width))
