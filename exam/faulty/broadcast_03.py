# expect: GT101
# cause: z is a column (40, 1) and the labels are (40,), so every label is multiplied with every score
# wrong: margins.shape == (40, 40)
# cure: y * z -> y * z[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
X = rng.normal(size=(40, 2))
y = np.sign(X[:, 0] + 0.3 * X[:, 1])


def negative_log_likelihood(w):
    z = np.matmul(X, w.reshape(2, 1))
    margins = y * z  # <- here
    return np.mean(np.logaddexp(0.0, -margins)), margins


(value, margins), gradient = gt.value_and_grad(negative_log_likelihood, has_aux=True)(np.zeros(2))
print(value, gradient)
