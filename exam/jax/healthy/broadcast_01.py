"""A Gram matrix: every point meets every point on purpose."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(size=15))
y = jnp.sin(x)


def negative_log_evidence(log_scale):
    K = jnp.exp(-0.5 * ((x[:, None] - x[None, :]) / jnp.exp(log_scale)) ** 2) + 0.1 * jnp.eye(15)
    L = jnp.linalg.cholesky(K)
    alpha = jax.scipy.linalg.cho_solve((L, True), y)
    return 0.5 * y @ alpha + jnp.sum(jnp.log(jnp.diag(L)))


g = jax.grad(negative_log_evidence)(0.1)
assert np.isfinite(g)
