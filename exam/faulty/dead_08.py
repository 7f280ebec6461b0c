# expect: GT201 or GT404 because GT209
# says: round
# cause: the price is rounded to cents, a step function
# wrong: not np.any(g)
# cure: np.round(price, 2) -> price
import numpy as np

import gradtape as gt

sold = np.array([3.0, 5.0, 2.0])


def revenue(p):
    price = p * np.array([1.0, 1.1, 0.9])
    shown = np.round(price, 2)  # <- here
    return np.sum(shown * sold)


g = gt.grad(revenue)(9.99)  # <- asked
