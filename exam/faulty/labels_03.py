# expect: GT118 or GT101
# cause: labels of shape (24, 1) pick a 24 x 24 table of log probabilities instead of one from each row
# wrong: chosen.shape == (24, 24)
# cure: labels] -> labels[:, 0]]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
X = rng.normal(size=(24, 4))
labels = rng.integers(0, 3, size=(24, 1))
w = gt.tensor(rng.normal(size=(4, 3)), requires_grad=True)

log_p = gt.log_softmax(X @ w, axis=-1)
chosen = log_p[np.arange(len(X)), labels]  # <- here
loss = -chosen.mean()
loss.backward()
