"""Rows and columns of a symmetric matrix have the same sums, in each example of a batch."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
graphs = rng.uniform(size=(3, 5, 5))
graphs = graphs + graphs.swapaxes(1, 2)


def spread(scale, graph):
    weights = scale * graph
    return np.sum(np.sin(weights / weights.sum(axis=1)))


slopes = gt.vmap(gt.grad(spread), in_axes=(None, 0))(1.0, graphs)
assert np.allclose(slopes, 0.0)  # the scale cancels out
