# expect: GT402 or GT403
# cause: the norm of the difference of two equal points has no derivative
# wrong: not np.isfinite(g).all()
# cure: jnp.linalg.norm(a - b, axis=-1) -> jnp.sqrt(jnp.sum((a - b) ** 2, axis=-1) + 1e-12)
import jax
import jax.numpy as jnp
import numpy as np

anchors = jnp.array([[0.0, 0.0], [1.0, 1.0]])


def length(a, b):
    return jnp.linalg.norm(a - b, axis=-1)  # <- here


def stretch(points):
    return jnp.sum((length(points, anchors) - 1.0) ** 2)


g = jax.grad(stretch)(jnp.array([[0.0, 0.0], [3.0, 1.0]]))  # <- asked
