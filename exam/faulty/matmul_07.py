# expect: GT111
# cause: np.dot of a vector of 5 weights with 4 features
# wrong: raises ShapeError
# cure: gt.Variable(np.ones(5)) -> gt.Variable(np.ones(4))
import numpy as np

import gradtape as gt

samples = np.random.default_rng(6).normal(size=(10, 4))
theta = gt.Variable(np.ones(5))

with gt.GradientTape() as tape:
    score = sum(np.dot(theta, s) for s in samples)  # <- here
print(tape.gradient(score, theta))
