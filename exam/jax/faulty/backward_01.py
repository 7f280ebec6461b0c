# expect: GT402
# cause: the norm of a zero vector has no slope: the first particle is at the origin
# wrong: np.isnan(force).any()
# cure: jnp.linalg.norm(positions, axis=1) -> jnp.sqrt(jnp.sum(positions**2, axis=1) + 1e-12)
import jax
import jax.numpy as jnp

positions = jnp.array([[0.0, 0.0], [1.0, 0.5], [-0.3, 0.8]])


def potential(positions):
    r = jnp.linalg.norm(positions, axis=1)  # <- here
    return jnp.sum(0.5 * (r - 1.0) ** 2)


@jax.jit
def step(positions):
    force = -jax.grad(potential)(positions)  # <- asked
    return positions + 0.1 * force, force


positions, force = step(positions)
print(force)
