# expect: GT118 or GT101
# cause: the labels are a column, so their one-hot code is (15, 1, 3) and meets all 15 rows of logits
# wrong: table.shape == (15, 15, 3)
# cure: np.eye(3)[labels] -> np.eye(3)[labels[:, 0]]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
features = rng.normal(size=(15, 4))
labels = rng.integers(0, 3, size=(15, 1))
onehot = np.eye(3)[labels]


def loss_fn(w):
    table = onehot * gt.log_softmax(features @ w)  # <- here
    return -table.sum() / 15.0, table


gradient, table = gt.grad(loss_fn, has_aux=True)(rng.normal(size=(4, 3)))
