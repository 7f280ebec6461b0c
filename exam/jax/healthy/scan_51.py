"""An Euler solver by fori_loop with a static bound, fitted to data."""

import jax
import jax.numpy as jnp
import numpy as np


def simulate(rate, steps=20, dt=0.1):
    return jax.lax.fori_loop(0, steps, lambda _, u: u - dt * rate * u, 1.0)


def loss(rate):
    return (simulate(rate) - 0.3) ** 2


slope, rate = jax.jit(jax.grad(loss)), 0.2
for _ in range(60):
    rate = rate - 2.0 * slope(rate)
assert np.isclose(simulate(rate), 0.3, atol=0.01)
