import jax
import jax.numpy as jnp
import numpy as np

target = jnp.array([[1.0, 0.2], [0.0, 1.0], [0.3, 0.1]])


def misfit(frame):
    left, values, right = jnp.linalg.svd(frame, full_matrices=False)
    return jnp.sum((left @ right - target) ** 2)


frame = jnp.eye(3, 2) * jnp.array([1.0, 2.0])
g = jax.grad(misfit)(frame)
assert bool(jnp.all(jnp.isfinite(g)))
