"""A Gaussian process: the log likelihood of 500 values by three length scales, the amplitude and the noise."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"gp": (500, 3)}
SMALL = (17, 3)


def initialise(size):
    points, features = size
    rng = default_rng(31337)
    x = rng.uniform(0.0, 4.0, (points, features))
    y = numpy.sin(x[:, 0]) + 0.1 * rng.standard_normal(points)
    return [numpy.log(numpy.array([0.8] * features + [1.1, 0.3])), x, y]


def program(logs, x, y):
    n = len(y)
    scaled = x * np.exp(-logs[:-2])
    apart = scaled[:, None, :] - scaled[None, :, :]
    K = np.exp(2.0 * logs[-2]) * np.exp(-0.5 * np.sum(apart * apart, axis=2)) + np.exp(2.0 * logs[-1]) * np.eye(n)
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, y)
    return -0.5 * z @ z - np.sum(np.log(np.diag(L))) - 0.5 * n * np.log(2.0 * np.pi)


def program_jax(logs, x, y):
    from jax.scipy.linalg import solve_triangular

    n = len(y)
    scaled = x * np.exp(-logs[:-2])
    apart = scaled[:, None, :] - scaled[None, :, :]
    K = np.exp(2.0 * logs[-2]) * np.exp(-0.5 * np.sum(apart * apart, axis=2)) + np.exp(2.0 * logs[-1]) * np.eye(n)
    L = np.linalg.cholesky(K)
    z = solve_triangular(L, y, lower=True)
    return -0.5 * z @ z - np.sum(np.log(np.diag(L))) - 0.5 * n * np.log(2.0 * np.pi)


def program_torch(torch, logs, x, y):
    n = len(y)
    scaled = x * torch.exp(-logs[:-2])
    apart = scaled[:, None, :] - scaled[None, :, :]
    K = torch.exp(2.0 * logs[-2]) * torch.exp(-0.5 * torch.sum(apart * apart, 2))
    L = torch.linalg.cholesky(K + torch.exp(2.0 * logs[-1]) * torch.eye(n, dtype=K.dtype))
    z = torch.linalg.solve_triangular(L, y[:, None], upper=False)[:, 0]
    return -0.5 * z @ z - torch.sum(torch.log(torch.diag(L))) - 0.5 * n * float(numpy.log(2.0 * numpy.pi))
