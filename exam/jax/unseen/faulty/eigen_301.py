# expect: GT402 or GT405
# cause: the eigenvectors of a matrix with repeated eigenvalues have no derivative
# wrong: not bool(np.all(np.isfinite(g)))
# cure: stiffness = jnp.eye(3) * 2.0 -> stiffness = jnp.diag(jnp.array([1.0, 2.0, 3.5]))
import jax
import jax.numpy as jnp
import numpy as np

load = jnp.array([1.0, -0.5, 0.25])


def response(stiffness):
    values, modes = jnp.linalg.eigh(stiffness)  # <- here
    return jnp.sum((modes.T @ load) ** 2 * jnp.arange(1.0, 4.0) / values)


stiffness = jnp.eye(3) * 2.0
g = jax.grad(response)(stiffness)  # <- asked
