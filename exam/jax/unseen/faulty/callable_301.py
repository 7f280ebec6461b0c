# expect: GT314 or GT311
# cause: grad is given the value of the energy, not the function
# wrong: raises TypeError
# cure: jax.grad(energy(angles)) -> jax.grad(energy)
import jax
import jax.numpy as jnp


def energy(angles):
    return -jnp.sum(jnp.cos(angles[1:] - angles[:-1]))


angles = jnp.array([0.1, 0.5, 0.2, 0.9])
force = jax.grad(energy(angles))  # <- here
g = force(angles)
