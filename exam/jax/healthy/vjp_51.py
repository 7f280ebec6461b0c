"""vjp with a cotangent of the output's shape, and jacrev against jacfwd."""

import jax
import jax.numpy as jnp
import numpy as np

A = jnp.asarray(np.random.default_rng(0).normal(size=(4, 3)))


def f(x):
    return jnp.tanh(A @ x)


x = jnp.array([0.3, -0.2, 0.5])
y, pullback = jax.vjp(f, x)
(g,) = pullback(jnp.ones_like(y))
assert np.allclose(g, jax.jacrev(f)(x).sum(axis=0), atol=1e-5)
assert np.allclose(jax.jacrev(f)(x), jax.jacfwd(f)(x), atol=1e-5)
