# expect: GT101
# cause: the labels index the columns for every row: 18 x 18 log-probabilities instead of one for each example
# wrong: chosen.shape == (18, 18)
# cure: logp[:, labels] -> logp[np.arange(len(labels)), labels]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
X, labels = rng.normal(size=(18, 4)), rng.integers(0, 3, 18)
W = gt.Variable(rng.normal(size=(4, 3)))
for _ in range(3):
    with gt.GradientTape() as tape:
        logp = gt.log_softmax(X @ W, axis=1)
        chosen = logp[:, labels]  # <- here
        loss = -np.mean(chosen)
    W.assign_sub(0.1 * tape.gradient(loss, W))
