"""Matrix factorisation with biases of users and items: one as a column, the other as a row."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
ratings = rng.normal(size=(9, 9)) + 3.0
known = rng.uniform(size=(9, 9)) < 0.6
p = {"u": rng.normal(size=(9, 2)) * 0.1, "v": rng.normal(size=(9, 2)) * 0.1, "bu": np.zeros(9), "bv": np.zeros(9)}


def loss(p):
    predicted = p["u"] @ p["v"].T + p["bu"][:, None] + p["bv"][None, :]
    return np.sum(np.where(known, predicted - ratings, 0.0) ** 2) / known.sum()


values = []
for _ in range(40):
    value, g = gt.value_and_grad(loss)(p)
    p = {k: p[k] - 0.5 * g[k] for k in p}
    values.append(value)
assert values[-1] < 0.2 * values[0]
