# expect: GT501
# cause: labels as the only index pick whole rows, not one class of each
# wrong: abs(float(np.mean(logp.numpy()[labels])) + float(loss)) < 1e-12
# cure: logp[labels] -> logp[np.arange(len(labels)), labels]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, labels = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
W = gt.Variable(rng.normal(size=(4, 3)))
with gt.GradientTape() as tape:
    logp = gt.log_softmax(X @ W, axis=1)
    loss = -np.mean(logp[labels])  # <- here
print(tape.gradient(loss, W))
