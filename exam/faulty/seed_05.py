# expect: GT301
# cause: the direction of a directional derivative has 2 numbers and the point 3
# wrong: raises ShapeError
# cure: np.array([1.0, 0.0]) -> np.array([1.0, 0.0, 0.0])
import numpy as np

import gradtape as gt

rosen = lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
point = np.array([1.0, 1.2, 0.8])
value, slope = gt.jvp(rosen, (point,), (np.array([1.0, 0.0]),))  # <- here
