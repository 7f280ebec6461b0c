# expect: GT301
# cause: the cotangent of the (3, 2) result is given transposed
# wrong: raises ShapeError
# cure: pull_back(np.ones((2, 3))) -> pull_back(np.ones((3, 2)))
import numpy as np

import gradtape as gt

A = np.arange(6.0).reshape(3, 2)
value, pull_back = gt.vjp(lambda s: np.exp(s) * A, 0.3)
(cotangent,) = pull_back(np.ones((2, 3)))  # <- here
