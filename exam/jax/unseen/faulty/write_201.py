# expect: GT202 or GT404 or GT314
# cause: at[].set returns a new array, which is thrown away, so that the boundary is never used
# wrong: not jnp.any(g)
# cure: u.at[0].set(boundary)  # <- here -> u = u.at[0].set(boundary)
import jax
import jax.numpy as jnp


def energy(boundary):
    u = jnp.linspace(0.0, 1.0, 8)
    u.at[0].set(boundary)  # <- here
    return jnp.sum((u[1:] - u[:-1]) ** 2)


g = jax.grad(energy)(0.5)  # <- asked
