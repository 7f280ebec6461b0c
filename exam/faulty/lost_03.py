# expect: GT312
# cause: np.asarray is called on a tracked tensor to be sure that it is an array
# wrong: raises DetachError
# cure: X = np.asarray(X) -> X = X * 1.0
import numpy as np

import gradtape as gt


def mean_distance(X):
    X = np.asarray(X)  # <- here
    return np.mean(np.sqrt(np.sum((X - 1.0) ** 2, axis=1)))


points = gt.Variable(np.random.default_rng(0).normal(size=(5, 2)))
with gt.GradientTape() as tape:
    d = mean_distance(points)
g = tape.gradient(d, points)
