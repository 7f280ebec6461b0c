"""Gradients are accumulated over small batches on purpose: optax.MultiSteps."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jnp.asarray(np.random.default_rng(0).normal(size=(32, 2)))
y = x[:, 0] - x[:, 1]
tx = optax.MultiSteps(optax.sgd(0.2), every_k_schedule=4)
w = jnp.zeros(2)
state = tx.init(w)
slope = jax.grad(lambda w, a, b: jnp.mean((a @ w - b) ** 2))
for i in range(8):
    batch = slice(8 * (i % 4), 8 * (i % 4) + 8)
    g = slope(w, x[batch], y[batch])
    updates, state = tx.update(g, state, w)
    w = optax.apply_updates(w, updates)
assert np.any(w)
