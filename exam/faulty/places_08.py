# expect: GT115
# cause: in a dict comprehension, the third component of a two-dimensional point is read
# wrong: raises IndexError
# cure: enumerate("xyz") -> enumerate("xy")
import numpy as np

import gradtape as gt


def length(point):
    parts = {name: point[i] for i, name in enumerate("xyz")}  # <- here
    return sum(value**2 for value in parts.values())


g = gt.grad(length)(np.array([3.0, 4.0]))
