# expect: GT110
# cause: the kernel matrix needs one set of points as a column: 30 and 12 points do not pair up element by element
# wrong: raises ShapeError
# cure: x1 - x2 -> x1[:, None] - x2
import numpy as np

import gradtape as gt

train, test = np.linspace(0, 1, 30), np.linspace(0, 1, 12)


def rbf(x1, x2):
    d = x1 - x2  # <- here
    return np.exp(-0.5 * d**2)


with gt.GradientTape() as tape:
    length = tape.watch(np.array(0.3))
    cross = rbf(train / length, test / length)
    total = np.sum(cross)
print(tape.gradient(total, length))
