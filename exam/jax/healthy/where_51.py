"""Piecewise functions by where with branches that are finite everywhere."""

import jax
import jax.numpy as jnp
import numpy as np


def huber(r, delta=1.0):
    return jnp.where(jnp.abs(r) < delta, 0.5 * r**2, delta * (jnp.abs(r) - 0.5 * delta))


x = jnp.linspace(-2, 2, 21)
y = x.at[3].set(15.0)
slope = 0.0
for _ in range(30):
    slope = slope - 0.5 * jax.grad(lambda s: jnp.mean(huber(s * x - y)))(slope)
assert abs(slope - 1.0) < 0.4
