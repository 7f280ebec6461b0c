# expect: GT201 because GT212
# cause: the embedding was made with trainable=False
# wrong: g is None
# cure: trainable=False -> trainable=True
import numpy as np

import gradtape as gt

table = gt.Variable(np.random.default_rng(0).normal(size=(6, 2)), trainable=False)  # <- here
with gt.GradientTape() as tape:
    loss = (table[np.array([0, 2, 2])] ** 2).sum()  # <- here
g = tape.gradient(loss, table)  # <- asked
