"""A small neural ODE, checkpointed: the steps are computed again on the way back."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
W = rng.normal(size=(2, 2)) * 0.3
y0 = np.array([1.0, 0.0])


@gt.checkpoint
def step(y, w):
    return y + 0.1 * np.tanh(y @ w)


def plain_step(y, w):
    return y + 0.1 * np.tanh(y @ w)


def final(w, one_step):
    y = y0
    for _ in range(10):
        y = one_step(y, w)
    return np.sum(y**2)


assert np.allclose(gt.grad(final)(W, step), gt.grad(final)(W, plain_step))
