# expect: GT201 because GT208 or GT210
# cause: the encoder's result leaves as .numpy() and the rest of the network computes with a constant
# wrong: all(g is None for g in (g1, g2))
# cure: encode(x).numpy() -> encode(x)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
w1, w2 = gt.Variable(rng.normal(size=(4, 3))), gt.Variable(rng.normal(size=(3, 3)))
head = gt.Variable(np.ones(3))
encode = lambda x: np.tanh(np.tanh(x @ w1) @ w2)

x = rng.normal(size=(5, 4))
with gt.GradientTape() as tape:
    code = encode(x).numpy()  # <- here
    loss = np.sum((code @ head) ** 2)
g1, g2 = tape.gradient(loss, [w1, w2])  # <- asked
