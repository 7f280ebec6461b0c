# expect: GT201 because GT202
# cause: the penalty forgets its argument and uses the data instead
# wrong: not np.any(g)
# cure: 0.1 * np.sum(theta0**2) -> 0.1 * np.sum(theta**2)
import numpy as np

import gradtape as gt

theta0 = np.array([0.3, -0.7])


def penalty(theta):
    return 0.1 * np.sum(theta0**2)


g = gt.grad(penalty)(theta0)  # <- here
