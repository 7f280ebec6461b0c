"""A small network trained with adam, its parameters in a list of dictionaries."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad
from autograd.misc.flatten import flatten
from autograd.misc.optimizers import adam
from autograd.scipy.special import logsumexp

rng = npr.RandomState(1)
points = rng.uniform(-1, 1, size=(40, 2))
labels = (points[:, 0] * points[:, 1] > 0).astype(int)
chosen = np.eye(2)[labels]


def layer(inputs, outputs):
    return {"weights": 0.5 * rng.normal(size=(inputs, outputs)), "bias": np.zeros(outputs)}


def log_probabilities(network, x):
    for number, part in enumerate(network):
        x = x @ part["weights"] + part["bias"]
        if number < len(network) - 1:
            x = np.tanh(x)
    return x - logsumexp(x, axis=1, keepdims=True)


def loss(network, step):
    vector, _ = flatten(network)
    return -np.mean(np.sum(chosen * log_probabilities(network, points), axis=1)) + 1e-3 * np.sum(vector**2)


network = [layer(2, 8), layer(8, 2)]
print("before", loss(network, 0))


def report(network, step, gradient):
    if step % 25 == 0:
        print(step, loss(network, step), gradient[0]["bias"].shape)


network = adam(grad(loss), network, step_size=0.1, num_iters=75, callback=report)
print("after", loss(network, 0))
print("right", np.mean(np.argmax(log_probabilities(network, points), axis=1) == labels))
