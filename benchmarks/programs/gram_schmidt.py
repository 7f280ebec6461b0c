"""The modified Gram-Schmidt process: columns are made orthonormal one after the other, in place.

Least squares, Krylov methods, orthogonal bases of polynomials.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (6, 4)
PAPER = (120, 24)


def initialise(size):
    rows, columns = size
    return (default_rng(8).standard_normal((rows, columns)),)


def program(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    for k in range(A.shape[1]):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(Q * np.cos(Q)) + np.sum(R * R)


def concatenated(A):
    columns = [A[:, k] for k in range(A.shape[1])]
    orthonormal, rows = [], []
    for k in range(len(columns)):
        size = np.sqrt(np.dot(columns[k], columns[k]))
        q = columns[k] / size
        row = [*([0.0 * size] * k), size]
        for j in range(k + 1, len(columns)):
            r = np.dot(q, columns[j])
            columns[j] = columns[j] - q * r
            row.append(r)
        orthonormal.append(q)
        rows.append(np.stack(row))
    Q, R = np.stack(orthonormal, axis=1), np.stack(rows)
    return np.sum(Q * np.cos(Q)) + np.sum(R * R)
