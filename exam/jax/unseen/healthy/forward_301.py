import jax
import jax.numpy as jnp


def potential(position):
    return 0.5 * jnp.sum(position**2) + 0.1 * jnp.prod(position)


position = jnp.array([1.0, 2.0, 0.5])
velocity = jnp.array([0.0, -1.0, 0.3])
value, rate = jax.jvp(potential, (position,), (velocity,))
assert rate.shape == ()
