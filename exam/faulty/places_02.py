# expect: GT110
# cause: in a generator expression inside sum(), the third layer's bias has the wrong length
# wrong: raises ShapeError
# cure: (4, 3)] -> (4, 4)]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
layers = [(gt.Variable(rng.normal(size=(4, n))), gt.Variable(np.zeros(m))) for n, m in [(4, 4), (4, 4), (4, 3)]]
x = rng.normal(size=(2, 4))
with gt.GradientTape() as tape:
    total = sum(
        np.sum(
            np.tanh(
                x @ w + b  # <- here
            )
        )
        for w, b in layers
    )
grads = tape.gradient(total, [w for w, _ in layers])
