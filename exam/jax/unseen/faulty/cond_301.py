# expect: GT314 or GT313 or GT311
# cause: lax.cond takes functions for its branches, and is given their values
# wrong: raises TypeError
# cure: x**2, 2.0 * x - 1.0) -> lambda x: x**2, lambda x: 2.0 * x - 1.0, x)
import jax
import jax.numpy as jnp


def huber(x):
    return jax.lax.cond(jnp.abs(x) < 1.0, x**2, 2.0 * x - 1.0)  # <- here


g = jax.grad(huber)(3.0)  # <- asked
