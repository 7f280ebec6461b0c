"""A mixture of diagonal Gaussians: the mean log likelihood of 1000 points in 10 dimensions under 25 of them."""

from numpy.random import default_rng

import gradtape.numpy as np
import gradtape.scipy.special as special

ARGUMENTS = (0, 1, 2)
ROWS = {"gmm": (1000, 10, 25)}
SMALL = (21, 10, 3)


def initialise(size):
    n, d, k = size
    rng = default_rng(31337)
    return [
        rng.standard_normal(k),
        rng.standard_normal((k, d)),
        0.1 * rng.standard_normal((k, d)),
        rng.standard_normal((n, d)),
    ]


def program(logits, means, log_scales, x):
    scaled = (x[:, None, :] - means) * np.exp(-log_scales)
    weights = logits - special.logsumexp(logits)
    inner = weights - np.sum(log_scales, axis=1) - 0.5 * np.sum(scaled * scaled, axis=2)
    return np.mean(special.logsumexp(inner, axis=1))


def program_torch(torch, logits, means, log_scales, x):
    scaled = (x[:, None, :] - means) * torch.exp(-log_scales)
    inner = torch.log_softmax(logits, 0) - torch.sum(log_scales, 1) - 0.5 * torch.sum(scaled * scaled, 2)
    return torch.mean(torch.logsumexp(inner, 1))
