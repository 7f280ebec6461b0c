# expect: GT312
# cause: the log density is SciPy's, whose distributions take bare arrays
# wrong: raises DetachError
# cure: norm(mean, spread).logpdf(heights) -> gt.stats.norm.logpdf(heights, mean, spread)
import numpy as np
from scipy.stats import norm

import gradtape as gt

heights = np.array([1.62, 1.81, 1.75, 1.69])


def loss(parameters):
    mean, spread = parameters
    return -np.sum(norm(mean, spread).logpdf(heights))  # <- here


print(gt.grad(loss)(np.array([1.7, 0.1])))
