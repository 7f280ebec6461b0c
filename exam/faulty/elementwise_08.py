# expect: GT110
# cause: np.diff shortens the path by one, and the durations were not shortened: 49 steps against 50 durations
# wrong: raises ShapeError
# cure: steps / dt -> steps / dt[1:]
import numpy as np

import gradtape as gt

times = np.linspace(0.0, 1.0, 50) ** 1.5
dt = np.gradient(times)


def action(path):
    steps = np.diff(path)
    kinetic = 0.5 * (steps / dt) ** 2  # <- here
    potential = 9.81 * path[1:]
    return np.sum(kinetic - potential)


print(gt.grad(action)(times * (1.0 - times)))
