"""Call options by the formula of Black and Scholes: the sum of their prices by spot and volatility.

The normal distribution function is its approximation with tanh, in all libraries: none needs a special function.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
ROWS = {"black_scholes": (1_000_000,)}
SMALL = (29,)


def initialise(size):
    rng = default_rng(31337)
    spot, volatility = rng.uniform(80.0, 120.0, size), rng.uniform(0.1, 0.5, size)
    return [spot, volatility, rng.uniform(80.0, 120.0, size), rng.uniform(0.2, 2.0, size)]


def price(xp, spot, volatility, strike, years):
    rate = 0.03

    def normal(z):
        return 0.5 * (1.0 + xp.tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)))

    spread = volatility * xp.sqrt(years)
    upper = (xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    return xp.sum(spot * normal(upper) - strike * xp.exp(-rate * years) * normal(upper - spread))


def program(spot, volatility, strike, years):
    return price(np, spot, volatility, strike, years)


def program_torch(torch, spot, volatility, strike, years):
    return price(torch, spot, volatility, strike, years)
