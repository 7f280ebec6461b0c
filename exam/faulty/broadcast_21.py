# expect: GT101
# cause: the standard deviations are a vector and the predictions a column in a Gaussian likelihood
# wrong: z.shape == (18, 18)
# cure: (y - mu) / sigma -> (y - mu) / sigma[:, None]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(9)
X, y, sigma = rng.normal(size=(18, 2)), rng.normal(size=(18, 1)), rng.uniform(0.5, 1.5, size=18)


def nll(theta):
    global z
    mu = X @ theta
    z = (y - mu) / sigma  # <- here
    return 0.5 * np.sum(z**2)


g = gt.grad(nll)(np.zeros((2, 1)))
