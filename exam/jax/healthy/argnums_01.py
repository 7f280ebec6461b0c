"""Gradients by two arguments, of which one is a number."""

import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 2.0, 25)
y = 1.5 * jnp.exp(-0.7 * x)


def loss(amplitude, rates, power=2):
    return jnp.mean((amplitude * jnp.exp(-rates[0] * x) + rates[1] - y) ** power)


amplitude, rates = 1.0, jnp.array([0.1, 0.0])
first = loss(amplitude, rates)
for _ in range(10):
    da, dr = jax.grad(loss, argnums=(0, 1))(amplitude, rates)
    amplitude, rates = amplitude - 0.2 * da, rates - 0.2 * dr
assert loss(amplitude, rates) < first
