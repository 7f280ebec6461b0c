"""Straight-through Gumbel softmax: one-hot forwards, soft backwards."""

import jax
import jax.numpy as jnp
import numpy as np

prices = jnp.array([3.0, 1.0, 2.0])


def cost(logits, key):
    soft = jax.nn.softmax((logits + jax.random.gumbel(key, (3,))) / 0.7)
    hard = jax.nn.one_hot(jnp.argmax(soft), 3)
    choice = soft + jax.lax.stop_gradient(hard - soft)
    return choice @ prices


logits, key = jnp.zeros(3), jax.random.PRNGKey(0)
for _ in range(60):
    key, sub = jax.random.split(key)
    logits = logits - 0.3 * jax.grad(cost)(logits, sub)
assert int(jnp.argmax(logits)) == 1
