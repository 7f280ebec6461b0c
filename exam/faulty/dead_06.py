# expect: GT404
# cause: the weight of the only term that depends on theta is left at zero
# wrong: not np.any(g)
# cure: beta = 0.0 -> beta = 0.5
import numpy as np

import gradtape as gt

data = np.array([0.2, 0.4, 0.9])
beta = 0.0


def free_energy(theta):
    mu, log_sigma = theta
    kl = 0.5 * (mu**2 + np.exp(2 * log_sigma) - 2 * log_sigma - 1.0)
    fit = np.sum((data - 0.5) ** 2)
    return fit + beta * kl  # <- here


g = gt.grad(free_energy)(np.array([0.7, -0.3]))  # <- asked
