# expect: GT201 because GT209
# cause: the share above a threshold is a mean of comparisons
# wrong: not np.any(g)
# cure: (level > 0.5) * 1.0 -> gt.sigmoid(10.0 * (level - 0.5))
import numpy as np

import gradtape as gt

noise = np.random.default_rng(2).normal(size=50)


def share(mu):
    level = mu + 0.3 * noise
    above = (level > 0.5) * 1.0  # <- here
    return np.mean(above)


g = gt.grad(share)(0.4)  # <- asked
