"""A custom_jvp for a function that would give NaN at 0."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_jvp
def sinc(x):
    safe = jnp.where(x == 0, 1.0, x)
    return jnp.where(x == 0, 1.0, jnp.sin(safe) / safe)


@sinc.defjvp
def sinc_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    safe = jnp.where(x == 0, 1.0, x)
    slope = jnp.where(x == 0, 0.0, (jnp.cos(safe) - jnp.sin(safe) / safe) / safe)
    return sinc(x), slope * dx


g = jax.grad(lambda x: sinc(x).sum())(jnp.array([0.0, 1.0, -2.0]))
assert np.isfinite(g).all()
assert g[0] == 0.0
