# expect: GT201 because GT209
# cause: the loss counts errors by argmax, which has no derivative
# wrong: g is None
# cure: -np.mean(correct) -> -gt.log_softmax(logits)[np.arange(30), labels].mean()
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
labels = rng.integers(0, 3, size=30)
W = gt.Variable(rng.normal(size=(4, 3)))

with gt.GradientTape() as tape:
    logits = X @ W
    correct = (np.argmax(logits, axis=1) == labels) * 1.0  # <- here
    loss = -np.mean(correct)
g = tape.gradient(loss, W)  # <- asked
