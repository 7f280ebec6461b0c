"""A scan whose state has the shape and dtype that it begins with, and a cond with equal branches."""

import jax
import jax.numpy as jnp

xs = jnp.ones((6, 4))


def loss(w):
    def cell(state, x):
        state = jax.lax.cond(jnp.sum(state) > 3, lambda s: s * 0.5, lambda s: s, jnp.tanh(x @ w + state))
        return state, jnp.sum(state)

    state, sums = jax.lax.scan(cell, jnp.zeros(4), xs)
    return jnp.sum(state**2) + jnp.mean(sums)


assert jnp.isfinite(jax.grad(loss)(jnp.eye(4) * 0.5)).all()
