"""A compiled step that gives away the memory of its parameters, for many steps."""

from functools import partial

import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (30, 4))


@partial(jax.jit, donate_argnums=0)
def step(params):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 1) ** 2))(params)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads), loss


params = {"w": jnp.ones((4, 1)), "b": jnp.zeros(1)}
for _ in range(30):
    params, loss = step(params)
assert loss < 5
