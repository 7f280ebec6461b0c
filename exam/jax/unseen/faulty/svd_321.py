# expect: GT402 or GT405
# cause: the singular vectors of a matrix with two equal singular values have no derivative
# wrong: not bool(np.all(np.isfinite(g)))
# cure: frame = jnp.eye(3, 2) -> frame = jnp.eye(3, 2) * jnp.array([1.0, 2.0])
import jax
import jax.numpy as jnp
import numpy as np

target = jnp.array([[1.0, 0.2], [0.0, 1.0], [0.3, 0.1]])


def misfit(frame):
    left, values, right = jnp.linalg.svd(frame, full_matrices=False)  # <- here
    return jnp.sum((left @ right - target) ** 2)


frame = jnp.eye(3, 2)
g = jax.grad(misfit)(frame)  # <- asked
