# expect: GT401
# cause: the likelihood is a product of 600 densities, which is 0 as a number
# wrong: not np.isfinite(g)
# cure: likelihood = likelihood * d -> likelihood = likelihood + np.log(d)
# cure: likelihood = 1.0 -> likelihood = 0.0
# cure: -np.log(likelihood) -> -likelihood
import numpy as np

import gradtape as gt

data = np.random.default_rng(1).normal(5.0, 1.0, 600)


def loss(mean):
    density = np.exp(-0.5 * (data - mean) ** 2) / np.sqrt(2 * np.pi)
    likelihood = 1.0
    for d in density:
        likelihood = likelihood * d
    return -np.log(likelihood)  # <- here


g = gt.grad(loss)(4.0)
print(g)
