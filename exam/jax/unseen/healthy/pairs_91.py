"""Coulomb energy of all pairs, the diagonal left out before it is divided."""

import jax
import jax.numpy as jnp
import numpy as np

positions = jnp.asarray(np.random.default_rng(2).normal(size=(6, 3)))
charges = jnp.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])


def energy(r):
    d2 = jnp.sum((r[:, None] - r[None, :]) ** 2, axis=-1)
    d = jnp.sqrt(jnp.where(jnp.eye(6, dtype=bool), 1.0, d2))
    pair = charges[:, None] * charges[None, :] / d
    return 0.5 * jnp.sum(jnp.where(jnp.eye(6, dtype=bool), 0.0, pair))


force = -jax.jit(jax.grad(energy))(positions)
assert np.allclose(force.sum(axis=0), 0.0, atol=1e-3)
