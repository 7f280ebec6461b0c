# expect: GT111
# cause: the Cholesky factor of a matrix that is not square (features x examples) is asked for
# wrong: raises ValueError
# cure: np.linalg.cholesky(A) -> np.linalg.cholesky(A @ A.T + np.eye(3))
import numpy as np

import gradtape as gt

features = np.random.default_rng(5).normal(size=(3, 7))


def log_volume(scale):
    A = scale[:, None] * features
    L = np.linalg.cholesky(A)  # <- here
    return 2.0 * np.sum(np.log(np.diagonal(L)))


print(gt.grad(log_volume)(np.ones(3)))
