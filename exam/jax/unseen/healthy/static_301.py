from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(1,))
def loss(flat, sizes):
    first, second = flat[: sizes[0]], flat[sizes[0] :]
    return jnp.sum(first**2) + jnp.sum(jnp.cos(second))


sizes = (2, 2)
g = jax.grad(loss)(jnp.arange(4.0), sizes)
assert g.shape == (4,)
