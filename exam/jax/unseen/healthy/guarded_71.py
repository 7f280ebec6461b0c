"""Guards done right: the double where, a safe norm, and log of a clipped probability."""

import jax
import jax.numpy as jnp

x = jnp.array([0.0, 0.5, -1.0, 2.0])


def safe_log(v):
    ok = v > 0
    return jnp.where(ok, jnp.log(jnp.where(ok, v, 1.0)), 0.0)


def safe_norm(v):
    square = jnp.sum(v**2)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


def objective(shift):
    p = jnp.clip(jax.nn.sigmoid(x + shift), 1e-6, 1 - 1e-6)
    return jnp.sum(safe_log(x + shift)) + safe_norm(x - x + 0.0 * shift) - jnp.mean(jnp.log(p))


g = jax.jit(jax.grad(objective))(jnp.array(0.0))
assert jnp.isfinite(g)
