import jax
import jax.numpy as jnp
import numpy as np


def final_gap(rate):
    path = jnp.zeros(10)
    for i in range(1, 10):
        path = path.at[i].set(path[i - 1] + 0.1 * rate * (1.0 - path[i - 1]))
    return (path[-1] - 0.8) ** 2


g = jax.grad(final_gap)(0.5)
assert bool(jnp.isfinite(g))
