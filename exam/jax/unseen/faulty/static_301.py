# expect: GT314
# cause: the sizes are a list, which cannot be hashed, and jit needs that of a static argument
# wrong: raises ValueError
# cure: sizes = [2, 2] -> sizes = (2, 2)
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(1,))
def loss(flat, sizes):
    first, second = flat[: sizes[0]], flat[sizes[0] :]
    return jnp.sum(first**2) + jnp.sum(jnp.cos(second))


sizes = [2, 2]  # <- here
g = jax.grad(loss)(jnp.arange(4.0), sizes)  # <- here
