# expect: GT201 because GT202
# says: weights[2]
# says: weights[0] and weights[1]
# cause: the loop stops one layer too early, so the last matrix is never used
# wrong: g is None
# cure: weights[:2] -> weights
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
weights = [gt.Variable(0.5 * rng.normal(size=(4, 4))) for _ in range(3)]
x = rng.normal(size=(8, 4))

with gt.GradientTape() as tape:
    h = x
    for w in weights[:2]:
        h = np.tanh(h @ w)
    loss = np.sum(h**2)  # <- here
g = tape.gradient(loss, weights[2])  # <- here
