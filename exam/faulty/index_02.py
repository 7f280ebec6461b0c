# expect: GT115
# cause: the vocabulary has 50 rows and the token 50 asks for the fifty-first
# wrong: raises IndexError
# cure: [3, 50, 7] -> [3, 49, 7]
import numpy as np

import gradtape as gt

embedding = gt.Variable(np.random.default_rng(0).normal(size=(50, 8)))
tokens = np.array([3, 50, 7])

with gt.GradientTape() as tape:
    vectors = embedding[tokens]  # <- here
    loss = (vectors**2).mean()
tape.gradient(loss, embedding)
