"""Prices of options; puts and calls are written into the two rows of a buffer.

Finance; the derivatives are the Greeks.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3, 4)
SMALL = (6,)
PAPER = (20000,)


def initialise(size):
    (n,) = size
    rng = default_rng(45)
    return 10.0 + 40.0 * rng.random(n), 10.0 + 40.0 * rng.random(n), 0.5 + rng.random(n), 0.03, 0.2


def normal(x):
    """Abramowitz and Stegun's approximation 26.2.17 of the normal distribution function."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = np.exp(-0.5 * x * x) * 0.3989422804014327 * series
    return np.where(x > 0.0, 1.0 - tail, tail)


def program(price, strike, years, rate, volatility):
    root = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    prices = np.empty((2, price.shape[0]))
    prices[0] = price * normal(d1) - discounted * normal(d2)
    prices[1] = prices[0] + discounted - price
    return np.mean(prices)
