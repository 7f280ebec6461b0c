import jax
import jax.numpy as jnp
import numpy as np

poles = jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def spread(points):
    cosines = jnp.sum(points * poles, axis=1)
    return jnp.sum(jnp.arccos(jnp.clip(cosines, -0.9999, 0.9999)) ** 2)


points = jnp.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
value, g = jax.jit(jax.value_and_grad(spread))(points)
assert bool(jnp.all(jnp.isfinite(g)))
