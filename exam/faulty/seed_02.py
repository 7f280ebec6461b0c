# expect: GT301
# cause: the seed was averaged over the batch before it was handed back: (10,) for a target of (40, 10)
# wrong: raises ShapeError
# cure: upstream.mean(axis=0) -> upstream / 40
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
w = gt.Variable(rng.normal(size=(5, 10)))
x = rng.normal(size=(40, 5))
with gt.GradientTape() as tape:
    features = np.maximum(x @ w, 0.0).reshape(40, 10)
upstream = 2.0 * (features.numpy() - 1.0)
g = tape.gradient(features, w, output_gradients=upstream.mean(axis=0))  # <- here
