"""Masked scores of -inf and a division that is guarded: no gradient is NaN."""

import jax
import jax.numpy as jnp

scores = jnp.array([[1.0, 2.0, 0.5], [0.3, 0.1, 2.0]])
valid = jnp.array([[True, True, False], [True, True, True]])
hits = jnp.array([2.0, 0.0])


def loss(bias):
    logits = jnp.where(valid, scores + bias, -jnp.inf)
    weights = jax.nn.softmax(logits, axis=1)
    rate = weights[:, 0] / jnp.maximum(hits, 1.0)
    return jnp.sum(rate) - jnp.sum(jnp.log(weights[:, 1]))


g = jax.grad(loss)(jnp.zeros(3))
assert jnp.isfinite(g).all()
