# expect: GT312
# cause: NumPy draws around bare numbers: the mean that is learned is cut off
# wrong: raises DetachError
# cure: rng.normal(mean, 1.0, size=50) -> gt.random.normal(rng, mean, 1.0, size=50)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)


def expected_cost(mean):
    draws = rng.normal(mean, 1.0, size=50)  # <- here
    return np.mean((draws - 2.0) ** 2)


print(gt.grad(expected_cost)(0.0))
