"""The log density of a hierarchical regression: 919 houses in 85 counties, each with an intercept of its own.

What a sampler (Hamiltonian Monte Carlo) calls a hundred thousand times; parameters are one vector, not centred.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"hierarchical": (919, 85)}
SMALL = (41, 5)


def initialise(size):
    houses, counties = size
    rng = default_rng(31337)
    county = numpy.sort(rng.integers(0, counties, houses))
    return [
        0.3 * rng.standard_normal(counties + 4),
        county,
        rng.integers(0, 2, houses).astype(float),
        1.3 + 0.8 * rng.standard_normal(houses),
    ]


def density(xp, theta, county, floor, radon):
    mean, log_spread, slope, log_noise, own = theta[0], theta[1], theta[2], theta[3], theta[4:]
    intercepts = mean + xp.exp(log_spread) * own
    error = (radon - intercepts[county] - slope * floor) * xp.exp(-log_noise)
    likelihood = -0.5 * xp.sum(error * error) - len(radon) * log_noise
    prior = -0.5 * (xp.sum(own * own) + 0.01 * mean * mean + 0.01 * slope * slope)
    scales = log_spread + log_noise - xp.log1p(xp.exp(2.0 * log_spread)) - xp.log1p(xp.exp(2.0 * log_noise))
    return likelihood + prior + scales


def program(theta, county, floor, radon):
    return density(np, theta, county, floor, radon)


def program_torch(torch, theta, county, floor, radon):
    return density(torch, theta, county, floor, radon)
