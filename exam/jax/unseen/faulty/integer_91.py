# expect: GT310 or GT207
# cause: the weights are whole numbers, which have no gradient
# wrong: raises TypeError
# cure: jnp.array([1, 2, 3]) -> jnp.array([1.0, 2.0, 3.0])
import jax
import jax.numpy as jnp


def polynomial(c):
    return jnp.sum(jnp.polyval(c, jnp.linspace(0.0, 1.0, 5)) ** 2)


coefficients = jnp.array([1, 2, 3])  # <- here
slope = jax.grad(polynomial)(coefficients)  # <- here
