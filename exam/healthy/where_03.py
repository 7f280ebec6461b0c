"""A piecewise price: the payoff of an option is zero for some paths and not for others."""

import numpy as np

import gradtape as gt

normal = np.random.default_rng(2).normal(size=2000)


def price(spot, volatility):
    final = spot * np.exp(volatility * normal - 0.5 * volatility**2)
    return np.mean(np.maximum(final - 100.0, 0.0))


delta, vega = gt.grad(price, argnums=(0, 1))(100.0, 0.2)
assert 0.4 < delta < 0.7
assert vega > 0
