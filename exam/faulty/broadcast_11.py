# expect: GT101
# cause: probabilities are a column (80, 1) and the labels a vector (80,): a cross entropy of all pairs
# wrong: losses.shape == (80, 80)
# cure: y * np.log(p) -> y[:, None] * np.log(p)
# cure: (1 - y) * np.log(1 - p) -> (1 - y[:, None]) * np.log(1 - p)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(9)
X = rng.normal(size=(80, 3))
y = (X[:, 0] > 0).astype(float)
w = gt.tensor(np.zeros((3, 1)), requires_grad=True)
b = gt.tensor(0.0, requires_grad=True)

p = gt.sigmoid(X @ w + b)
losses = -(
    y * np.log(p)  # <- here
    + (1 - y) * np.log(1 - p)  # <- here
)
losses.mean().backward()
print(w.grad[:, 0], b.grad)
