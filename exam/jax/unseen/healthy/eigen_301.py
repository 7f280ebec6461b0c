import jax
import jax.numpy as jnp
import numpy as np

load = jnp.array([1.0, -0.5, 0.25])


def response(stiffness):
    values, modes = jnp.linalg.eigh(stiffness)
    return jnp.sum((modes.T @ load) ** 2 * jnp.arange(1.0, 4.0) / values)


stiffness = jnp.diag(jnp.array([1.0, 2.0, 3.5]))
g = jax.grad(response)(stiffness)
assert bool(jnp.all(jnp.isfinite(g)))
