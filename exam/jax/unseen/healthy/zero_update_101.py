"""Rates for each parameter, one of which is zero: the update is computed, and is nothing."""

import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (30, 4))
params = {"w": jnp.ones((4, 1)), "b": jnp.zeros(1)}
rates = {"w": 0.1, "b": 0.0}


@jax.jit
def update(params):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 1) ** 2))(params)
    return jax.tree_util.tree_map(lambda p, g, r: p - r * g, params, grads, rates)


for _ in range(12):
    params = update(params)
assert not jnp.any(params["b"])
