# expect: GT402
# cause: sqrt has no slope at 0, inside a compiled function
# wrong: not np.isfinite(g).all()
# cure: np.sqrt(steps) -> np.sqrt(steps + 1e-12)
import numpy as np

import gradtape as gt


@gt.jit
@gt.value_and_grad
def length(points):
    steps = np.sum((points[1:] - points[:-1]) ** 2, axis=1)
    return np.sum(np.sqrt(steps))  # <- here


value, g = length(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]))
