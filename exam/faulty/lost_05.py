# expect: GT312
# cause: += writes the tracked gradient step into a plain NumPy array
# wrong: raises DetachError
# cure: position += velocity * 0.1 -> position = position + velocity * 0.1
import numpy as np

import gradtape as gt


def landing_point(launch):
    position, velocity = np.zeros(2), launch
    for _ in range(5):
        position += velocity * 0.1  # <- here
        velocity = velocity + np.array([0.0, -0.98])
    return position[0]


g = gt.grad(landing_point)(np.array([1.0, 4.0]))
