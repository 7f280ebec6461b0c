# expect: GT301 or GT314 or GT306
# cause: jvp takes the points and the tangents as tuples, and is given the arrays
# wrong: raises TypeError
# cure: jax.jvp(potential, position, velocity) -> jax.jvp(potential, (position,), (velocity,))
import jax
import jax.numpy as jnp


def potential(position):
    return 0.5 * jnp.sum(position**2) + 0.1 * jnp.prod(position)


position = jnp.array([1.0, 2.0, 0.5])
velocity = jnp.array([0.0, -1.0, 0.3])
value, rate = jax.jvp(potential, position, velocity)  # <- here
