"""A masked sum under jit with where, and a boolean index outside of it."""

import jax
import jax.numpy as jnp


@jax.jit
def loss(x):
    return jnp.sum(jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0))


x = jnp.array([1.0, -2.0, 3.0])
g = jax.grad(loss)(x)
assert jnp.isfinite(g[x > 0]).all()
