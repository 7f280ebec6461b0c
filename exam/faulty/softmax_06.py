# expect: GT501
# cause: attention by einsum, whose weights sum to 1 over the queries
# wrong: not np.allclose(total, 1.0)
# cure: axis=1 -> axis=2
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
q, k, v = (rng.normal(size=(2, 6, 4)) for _ in range(3))


def attention(q):
    scores = np.einsum("bqd,bkd->bqk", q, k) / 2.0
    weights = gt.softmax(scores, axis=1)  # <- here
    return np.mean(np.einsum("bqk,bkd->bqd", weights, v) ** 2), weights.sum(axis=2)


(value, total), gradient = gt.value_and_grad(attention, has_aux=True)(q)
