"""The number of steps is static, and the loop is unrolled while it is traced."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def loss(rate, steps):
    x = jnp.array(1.0)
    for _ in range(steps):
        x = x - rate * x
    return x**2


assert jax.grad(loss)(0.1, 5) < 0
