"""Experts choose tokens: the softmax is over the tokens on purpose, and they are what is summed."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x, start = rng.normal(size=(8, 3)), rng.normal(size=(3, 4))


def chosen(w):
    gate = gt.softmax(x @ w, axis=0)
    return np.sum(np.einsum("ne,nd->ed", gate, x) ** 2)


assert chosen(start - 0.01 * gt.grad(chosen)(start)) < chosen(start)
