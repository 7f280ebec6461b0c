"""A lasso path with soft thresholding: many gradients are zero for a reason."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
A = jnp.asarray(rng.normal(size=(40, 6)))
b = A @ jnp.array([2.0, 0.0, 0.0, -1.0, 0.0, 0.0])


def smooth(w):
    return 0.5 * jnp.mean((A @ w - b) ** 2)


def shrink(w, t):
    return jnp.sign(w) * jnp.maximum(jnp.abs(w) - t, 0.0)


w = jnp.zeros(6)
for _ in range(60):
    w = shrink(w - 0.3 * jax.grad(smooth)(w), 0.03)
assert np.count_nonzero(np.asarray(w)) <= 3
