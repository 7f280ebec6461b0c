"""Straight-through rounding for quantised weights."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(size=(20, 3)))
y = x @ jnp.array([1.0, 0.5, -1.5])


def quantise(w):
    return w + jax.lax.stop_gradient(jnp.round(w * 4) / 4 - w)


def loss(w):
    return jnp.mean((x @ quantise(w) - y) ** 2)


w = jnp.zeros(3)
for _ in range(60):
    w = w - 0.1 * jax.grad(loss)(w)
assert float(loss(w)) < 0.2
