"""Gradients for each example: vmap over grad."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
X, y = rng.normal(size=(10, 3)), rng.normal(size=10)
w = jnp.ones(3)


def loss(w, x, t):
    return (jnp.dot(x, w) - t) ** 2


each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(w, X, y)
whole = jax.grad(lambda w: jnp.mean(jax.vmap(loss, in_axes=(None, 0, 0))(w, X, y)))(w)
assert each.shape == (10, 3)
assert np.allclose(each.mean(axis=0), whole, atol=1e-5)
