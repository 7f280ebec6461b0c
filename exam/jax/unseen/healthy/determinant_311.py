import jax
import jax.numpy as jnp
import numpy as np

samples = 0.01 * jax.random.normal(jax.random.key(0), (200, 30))


def loss(log_scale):
    covariance = jnp.diag(jnp.exp(2.0 * log_scale)) * 1e-4
    quadratic = jnp.mean(jnp.sum(samples @ jnp.linalg.inv(covariance) * samples, axis=1))
    return quadratic + jnp.linalg.slogdet(covariance)[1]


g = jax.grad(loss)(jnp.zeros(30))
assert bool(jnp.all(jnp.isfinite(g)))
