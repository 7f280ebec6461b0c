# expect: GT402 or GT405 or GT403
# cause: the angle of the zero vector has no derivative: arctan2(0, 0)
# wrong: not np.isfinite(np.asarray(g)).all()
# cure: jnp.array([[0.0, 0.0], [1.0, 2.0]]) -> jnp.array([[0.5, 0.1], [1.0, 2.0]])
import jax
import jax.numpy as jnp

points = jnp.array([[0.0, 0.0], [1.0, 2.0]])


def loss(p):
    angle = jnp.arctan2(p[:, 1], p[:, 0])  # <- here
    return jnp.sum(angle**2 + angle)


g = jax.grad(loss)(points)  # <- asked
