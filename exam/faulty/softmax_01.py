# expect: GT501
# cause: the logits are normalised over the batch (axis 0), and the loss picks one class from each row
# wrong: not np.allclose(probs.numpy().sum(axis=1), 1.0)
# cure: axis=0 -> axis=1
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, labels = rng.normal(size=(9, 4)), rng.integers(0, 3, size=9)
W = gt.Variable(rng.normal(size=(4, 3)))
with gt.GradientTape() as tape:
    probs = gt.softmax(X @ W, axis=0)  # <- here
    loss = -np.mean(np.log(probs[np.arange(9), labels]))
g = tape.gradient(loss, W)
