"""Logistic regression: 2000 examples of 50 features, mean logarithmic loss and a ridge."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"logistic": (2000, 50)}
SMALL = (37, 5)


def initialise(size):
    examples, features = size
    rng = default_rng(31337)
    x = rng.standard_normal((examples, features))
    scores = x @ rng.standard_normal(features) + rng.standard_normal(examples)
    return [0.1 * rng.standard_normal(features), x, numpy.where(scores > 0, 1.0, -1.0)]


def program(w, x, signs):
    return np.mean(np.logaddexp(0.0, -signs * (x @ w))) + 0.01 * np.sum(w * w)


def program_torch(torch, w, x, signs):
    return torch.mean(torch.nn.functional.softplus(-signs * (x @ w))) + 0.01 * torch.sum(w * w)
