# expect: GT501
# cause: the attention is normalised over the queries, and then the values are summed over the keys
# wrong: not np.allclose(weights.sum(axis=-1), 1.0)
# cure: axis=0) -> axis=-1)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
q, k, v = rng.normal(size=(5, 8)), rng.normal(size=(7, 8)), rng.normal(size=(7, 4))


def attend(w):
    scores = (q @ w) @ k.T / np.sqrt(8.0)
    weights = gt.softmax(scores, axis=0)  # <- here
    context = weights @ v
    return np.sum(context**2), weights


g, weights = gt.grad(attend, has_aux=True)(np.eye(8))
