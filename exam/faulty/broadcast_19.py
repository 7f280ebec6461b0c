# expect: GT101
# cause: the predictions keep their column through a sigmoid and meet the labels' vector in the cross entropy
# wrong: terms.shape == (40, 40)
# cure: gt.sigmoid(X @ w) -> gt.sigmoid(X @ w)[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
X = rng.normal(size=(40, 2))
labels = (X[:, 0] > 0).astype(float)
w = gt.tensor(rng.normal(size=(2, 1)), requires_grad=True)
p = gt.sigmoid(X @ w)
terms = labels * np.log(p) + (1.0 - labels) * np.log(1.0 - p)  # <- here
loss = -terms.mean()
loss.backward()
