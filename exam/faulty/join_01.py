# expect: GT113
# cause: features of 10 examples are joined with a column for 9 of them
# wrong: raises ShapeError
# cure: np.ones((9, 1)) -> np.ones((10, 1))
import numpy as np

import gradtape as gt

X = np.random.default_rng(0).normal(size=(10, 3))
scale = gt.Variable(np.ones(3))

with gt.GradientTape() as tape:
    design = np.concatenate([X * scale, np.ones((9, 1))], axis=1)  # <- here
    trace = np.sum(design**2)
print(tape.gradient(trace, scale))
