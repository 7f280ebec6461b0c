# expect: GT201 or GT305 because GT203
# cause: the weights were made without requires_grad=True, so backward finds nothing to fill
# wrong: raises UntrackedError
# cure: np.ones(3)) -> np.ones(3), requires_grad=True)
import numpy as np

import gradtape as gt

X = np.random.default_rng(2).normal(size=(8, 3))
y = X.sum(axis=1)
w = gt.tensor(np.ones(3))  # <- here
loss = ((X @ w - y) ** 2).mean()  # <- here
loss.backward()  # <- here
