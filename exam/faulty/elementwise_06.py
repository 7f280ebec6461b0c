# expect: GT110
# cause: the residual connection adds the input (16, 8) to a block whose output is (16, 12)
# wrong: raises ShapeError
# cure: (8, 12) -> (8, 8)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)


class Block:
    def __init__(self, shape):
        self.kernel = gt.Variable(rng.normal(size=shape) * 0.1)

    def __call__(self, x):
        return x + np.maximum(x @ self.kernel, 0.0)  # <- here


blocks = [Block((8, 8)), Block((8, 12))]
with gt.GradientTape() as tape:
    h = rng.normal(size=(16, 8))
    for block in blocks:
        h = block(h)
    loss = np.mean(h**2)
grads = tape.gradient(loss, [block.kernel for block in blocks])
