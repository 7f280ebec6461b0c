# expect: GT102
# cause: a slice left over from debugging keeps the first code only, and its reconstruction meets all 12 rows
# wrong: rebuilt.shape == (1, 5)
# cure: code[:1] @ decoder -> code @ decoder
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
data = rng.uniform(size=(12, 3)) @ rng.uniform(size=(3, 5))
encoder, decoder = gt.Variable(rng.normal(size=(5, 3))), gt.Variable(rng.normal(size=(3, 5)))

with gt.GradientTape() as tape:
    code = np.tanh(data @ encoder)
    rebuilt = code[:1] @ decoder
    cost = 0.5 * ((data - rebuilt) ** 2).sum()  # <- here
grads = tape.gradient(cost, [encoder, decoder])
