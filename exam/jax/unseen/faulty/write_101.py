# expect: GT309
# cause: arrays of JAX cannot be written to; the boundary is set by an assignment
# wrong: raises TypeError
# cure: field[0] = left -> field = field.at[0].set(left)
import jax
import jax.numpy as jnp


def energy(left):
    field = jnp.zeros(10)
    field[0] = left  # <- here
    return jnp.sum(jnp.diff(field) ** 2)


g = jax.grad(energy)(1.0)
