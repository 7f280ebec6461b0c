# expect: GT210 or GT312
# cause: under jit the number of positive elements is not known, so that a boolean mask cannot select them
# wrong: raises Exception
# cure: jnp.sum(jnp.log(x[x > 0])) -> jnp.sum(jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0))
import jax
import jax.numpy as jnp


@jax.jit
def loss(x):
    return jnp.sum(jnp.log(x[x > 0]))  # <- here


g = jax.grad(loss)(jnp.array([1.0, -2.0, 3.0]))  # <- asked
