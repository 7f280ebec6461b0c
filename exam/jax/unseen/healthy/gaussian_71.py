"""Intended tables: a kernel matrix of all pairs and the likelihood of a Gaussian process."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.linspace(0.0, 1.0, 20)
y = jnp.sin(6.0 * x) + 0.1 * jnp.asarray(np.random.default_rng(0).normal(size=20))


def kernel(theta, a, b):
    return jnp.exp(theta["size"] - 0.5 * ((a[:, None] - b[None, :]) / jnp.exp(theta["length"])) ** 2)


def negative_likelihood(theta):
    K = kernel(theta, x, x) + jnp.exp(theta["noise"]) * jnp.eye(20)
    L = jnp.linalg.cholesky(K)
    alpha = jax.scipy.linalg.solve_triangular(L, y, lower=True)
    return 0.5 * jnp.sum(alpha**2) + jnp.sum(jnp.log(jnp.diag(L)))


theta = {"size": jnp.array(0.0), "length": jnp.array(-1.0), "noise": jnp.array(-2.0)}
values = []
for _ in range(6):
    value, g = jax.jit(jax.value_and_grad(negative_likelihood))(theta)
    theta = jax.tree.map(lambda t, d: t - 0.01 * d, theta, g)
    values.append(float(value))
assert values[-1] < values[0]
