# expect: GT112
# cause: the letter d stands for 4 in the queries and for 6 in the keys
# wrong: raises ShapeError
# cure: size=(2, 5, 6) -> size=(2, 5, 4)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
queries = gt.Variable(rng.normal(size=(2, 3, 4)))
keys = rng.normal(size=(2, 5, 6))

with gt.GradientTape() as tape:
    scores = np.einsum("bqd,bkd->bqk", queries, keys)  # <- here
    loss = (scores**2).mean()
print(tape.gradient(loss, queries).shape)
