# expect: GT201 because GT202
# says: ['b']
# says: ['w']
# cause: of the two entries of the dict only one is used
# wrong: not np.any(g["b"])
# cure: X @ p["w"] -> X @ p["w"] + p["b"]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
X, y = rng.normal(size=(10, 2)), rng.normal(size=10)


def loss(p):
    return np.mean((X @ p["w"] - y) ** 2)  # <- here


g = gt.grad(loss)({"w": np.zeros(2), "b": np.zeros(())})  # <- here
