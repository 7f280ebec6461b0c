import jax
import jax.numpy as jnp


def energy(angles):
    return -jnp.sum(jnp.cos(angles[1:] - angles[:-1]))


angles = jnp.array([0.1, 0.5, 0.2, 0.9])
force = jax.grad(energy)
g = force(angles)
assert bool(jnp.all(jnp.isfinite(g)))
