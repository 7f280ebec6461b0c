# expect: GT101
# cause: mean has one column per example, (100, 1), the observations are (100,): a likelihood of 100 x 100 pairs
# wrong: log_density.shape == (100, 100)
# cure: (t - mean) / sigma -> (t - mean[:, 0]) / sigma
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
x = np.linspace(0, 1, 100)
design = np.stack([np.ones_like(x), x, x**2], axis=1)
t = 1.0 - 2.0 * x + rng.normal(scale=0.1, size=100)


def log_likelihood(theta, log_sigma):
    sigma = np.exp(log_sigma)
    mean = design @ theta[:, None]
    z = (t - mean) / sigma  # <- here
    per_point = -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)
    return np.sum(per_point), per_point


theta0 = np.zeros(3)
gradient, log_density = gt.grad(log_likelihood, argnums=(0, 1), has_aux=True)(theta0, 0.0)
print(gradient)
