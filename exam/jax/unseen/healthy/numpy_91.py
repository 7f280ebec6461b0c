"""NumPy makes the data, jax.numpy computes: what is constant may come from NumPy, also inside."""

import jax
import jax.numpy as jnp
import numpy as np

table = np.random.default_rng(0).normal(size=(15, 2)).astype("float32")


@jax.jit
def loss(w):
    window = np.hanning(15).astype("float32")
    return jnp.mean(window * (table @ w) ** 2)


g = jax.grad(loss)(jnp.ones(2))
assert g.shape == (2,)
