"""vmap over the examples with the weights held, and over several starts with the data held."""

import jax
import jax.numpy as jnp

xs, ys = jax.random.normal(jax.random.key(0), (10, 3)), jnp.zeros(10)


def loss(w):
    return jnp.mean((jax.vmap(jnp.dot, (None, 0))(w, xs) - ys) ** 2)


starts = jax.random.normal(jax.random.key(1), (5, 3))
for _ in range(12):
    starts = starts - 0.1 * jax.vmap(jax.grad(loss))(starts)
assert starts.shape == (5, 3)
