# expect: GT101
# cause: y was made a column for a scaler, and the prediction is a vector
# wrong: np.shape(residual) == (60, 60)
# cure: X @ theta - y -> X @ theta - y[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
X = rng.normal(size=(60, 4))
y = (X @ np.ones(4)).reshape(-1, 1)
y = (y - y.mean()) / y.std()


def objective(theta):
    global residual
    residual = X @ theta - y  # <- here
    return np.dot(residual.ravel(), residual.ravel())


g = gt.grad(objective)(np.zeros(4))
