"""The mixture of ADBench: full covariances, given by the triangle of their inverse square roots, with a prior."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np
import gradtape.scipy.special as special

ARGUMENTS = (0, 1, 2, 3)
ROWS = {"gmm_10_25": (1000, 10, 25), "gmm_64_100": (1000, 64, 100)}
SMALL = (13, 5, 3)


def initialise(size):
    n, d, k = size
    rng = default_rng(31337)
    # where each element of the lower triangle is in the list of them; the last place is a zero
    places = numpy.full((d, d), d * (d - 1) // 2)
    places[numpy.tril_indices(d, -1)] = numpy.arange(d * (d - 1) // 2)
    return [
        rng.standard_normal(k),
        rng.standard_normal((k, d)),
        0.3 * rng.standard_normal((k, d)),
        0.3 * rng.standard_normal((k, d * (d - 1) // 2)),
        rng.standard_normal((n, d)),
        places,
    ]


def program(alphas, means, logs, lower, x, places):
    triangle = np.concatenate([lower, np.zeros((len(alphas), 1))], axis=1)[:, places]
    centred = x[:, None, :] - means
    turned = np.exp(logs) * centred + np.einsum("kij,nkj->nki", triangle, centred)
    inner = alphas + np.sum(logs, axis=1) - 0.5 * np.sum(turned * turned, axis=2)
    prior = 0.5 * (np.sum(np.exp(2.0 * logs)) + np.sum(lower * lower)) - np.sum(logs)
    return np.sum(special.logsumexp(inner, axis=1)) - len(x) * special.logsumexp(alphas) - prior


def program_torch(torch, alphas, means, logs, lower, x, places):
    zero = torch.zeros((len(alphas), 1), dtype=lower.dtype)
    triangle = torch.cat([lower, zero], 1)[:, places]
    centred = x[:, None, :] - means
    turned = torch.exp(logs) * centred + torch.einsum("kij,nkj->nki", triangle, centred)
    inner = alphas + torch.sum(logs, 1) - 0.5 * torch.sum(turned * turned, 2)
    prior = 0.5 * (torch.sum(torch.exp(2.0 * logs)) + torch.sum(lower * lower)) - torch.sum(logs)
    return torch.sum(torch.logsumexp(inner, 1)) - len(x) * torch.logsumexp(alphas, 0) - prior
