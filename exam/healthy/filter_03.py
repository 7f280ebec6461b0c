"""The forward algorithm of a hidden Markov model, in logarithms."""

import numpy as np

import gradtape as gt

observations = np.array([0, 1, 1, 2, 0, 2, 2])


def log_likelihood(params):
    transition = gt.log_softmax(params["transition"], axis=1)
    emission = gt.log_softmax(params["emission"], axis=1)
    alpha = gt.log_softmax(params["start"]) + emission[:, observations[0]]
    for symbol in observations[1:]:
        alpha = gt.logsumexp(alpha[:, None] + transition, axis=0) + emission[:, symbol]
    return gt.logsumexp(alpha)


rng = np.random.default_rng(1)
params = {"transition": rng.normal(size=(2, 2)), "emission": rng.normal(size=(2, 3)), "start": np.zeros(2)}
values = []
for _ in range(20):
    value, grads = gt.value_and_grad(log_likelihood)(params)
    params = {name: params[name] + 0.3 * grads[name] for name in params}
    values.append(value)
assert values[-1] > values[0]
