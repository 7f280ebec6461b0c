"""Logistic regression on a sparse matrix of 20 000 examples and 5 000 features, 25 of them in each example."""

import numpy
import scipy.sparse
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
CLOSED = (1,)
"""A sparse matrix is a constant of the compiled function."""
ROWS = {"sparse_logistic": (20_000, 5_000, 25)}
SMALL = (31, 12, 4)


def initialise(size):
    examples, features, each = size
    rng = default_rng(31337)
    columns = numpy.sort(rng.integers(0, features, (examples, each)), axis=1).ravel()
    rows = numpy.arange(0, examples * each + 1, each)
    matrix = scipy.sparse.csr_array((rng.standard_normal(examples * each), columns, rows), shape=(examples, features))
    signs = numpy.where(rng.random(examples) < 0.5, 1.0, -1.0)
    return [0.1 * rng.standard_normal(features), matrix, signs]


def program(w, matrix, signs):
    return np.mean(np.logaddexp(0.0, -signs * (matrix @ w))) + 0.01 * np.sum(w * w)


def jax_arguments(w, matrix, signs):
    from jax.experimental import sparse

    return w, sparse.BCOO.from_scipy_sparse(matrix), signs


def torch_arguments(torch, w, matrix, signs):
    parts = (torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    return w, torch.sparse_csr_tensor(*parts, size=matrix.shape), signs


def program_torch(torch, w, matrix, signs):
    return torch.mean(torch.nn.functional.softplus(-signs * (matrix @ w))) + 0.01 * torch.sum(w * w)


def anchor_arguments(w, matrix, signs):
    return w, matrix.data, matrix.indices.astype(numpy.int32), matrix.indptr.astype(numpy.int32), signs
