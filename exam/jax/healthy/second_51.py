"""A Hessian-vector product by jvp of grad, and conjugate gradients with it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

A = jnp.array([[3.0, 1.0], [1.0, 2.0]])
b = jnp.array([1.0, -1.0])


def f(x):
    return 0.5 * x @ A @ x - b @ x + 0.01 * jnp.sum(x**4)


def hvp(x, v):
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


x = jnp.zeros(2)
for _ in range(4):
    step, _ = jax.scipy.sparse.linalg.cg(partial(hvp, x), -jax.grad(f)(x))
    x = x + step
assert np.allclose(jax.grad(f)(x), 0.0, atol=1e-3)
