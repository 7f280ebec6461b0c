"""A Markov chain whose columns add up to 1, and the transitions that were seen."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
before, after = rng.integers(0, 4, 30), rng.integers(0, 4, 30)


def unlikelihood(logits):
    e = np.exp(logits)
    chances = e / e.sum(axis=0)
    state = chances @ np.full(4, 0.25)
    return -np.sum(np.log(chances[after, before])) - np.log(state[0])


start = rng.normal(size=(4, 4))
assert unlikelihood(start - 0.01 * gt.grad(unlikelihood)(start)) < unlikelihood(start)
