"""The Cox partial likelihood: the risk sets are a matrix of comparisons of the times."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
X = rng.normal(size=(15, 2))
times = np.exp(-X[:, 0]) + 0.01 * rng.uniform(size=15)
at_risk = (times[None, :] >= times[:, None]).astype(float)


def partial_likelihood(beta):
    eta = X @ beta
    return np.sum(eta - np.log(at_risk @ np.exp(eta)))


beta = np.zeros(2)
values = []
for _ in range(40):
    value, g = gt.value_and_grad(partial_likelihood)(beta)
    beta = beta + 0.05 * g
    values.append(value)
assert values[-1] > values[0]
assert beta[0] > 0.5
