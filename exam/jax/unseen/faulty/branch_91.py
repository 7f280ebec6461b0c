# expect: GT403 or GT402
# cause: where picks x below 1, and the gradient of the square root at zero is infinite in the branch not taken
# wrong: not np.isfinite(g).all()
# cure: jnp.sqrt(x) -> jnp.sqrt(jnp.where(x < 1.0, 1.0, x))
import jax
import jax.numpy as jnp
import numpy as np


def soft(x):
    return jnp.where(x < 1.0, x, jnp.sqrt(x)).sum()  # <- here


g = jax.grad(soft)(jnp.array([0.0, 0.5, 4.0]))  # <- asked
