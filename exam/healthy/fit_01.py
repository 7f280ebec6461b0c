"""Dropout draws from the generator that fit was given: the same seed, the same history."""

import numpy as np

import gradtape as gt

data = np.random.default_rng(0)
X = data.normal(size=(32, 3))
y = X @ np.ones((3, 1))


def trained(seed):
    rng = np.random.default_rng(seed)
    net = gt.nn.Sequential(gt.nn.Linear(3, 8), gt.nn.Tanh(), gt.nn.Dropout(0.5), gt.nn.Linear(8, 1))
    net.initialise(np.random.default_rng(1))
    history = gt.fit(
        net,
        (X, y),
        gt.nn.functional.mse_loss,
        epochs=3,
        batch_size=8,
        optimiser=gt.optim.SGD(0.05),
        rng=rng,
    )
    return history.records["loss"]


assert trained(4) == trained(4)
assert trained(4) != trained(5)
