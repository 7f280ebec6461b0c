"""The gradient of each example alone, by vmap of grad."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(1)
X, y = jnp.asarray(rng.normal(size=(10, 3))), jnp.asarray(rng.normal(size=10))


def loss(w, x, t):
    return (x @ w - t) ** 2


each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(jnp.ones(3), X, y)
norms = jnp.linalg.norm(each, axis=1, keepdims=True)
clipped = (each / jnp.maximum(1.0, norms)).mean(axis=0)
assert clipped.shape == (3,)
