# expect: GT111
# cause: the weights are stored as (units, features) and used as if they were (features, units)
# wrong: raises ShapeError
# cure: X @ W -> X @ W.T
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(32, 10))
W = gt.Variable(rng.normal(size=(4, 10)))

with gt.GradientTape() as tape:
    logits = X @ W  # <- here
    loss = gt.logsumexp(logits, axis=1).mean()
print(tape.gradient(loss, W).shape)
