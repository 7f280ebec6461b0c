"""Angles of points away from the origin."""

import jax
import jax.numpy as jnp

points = jnp.array([[0.5, 0.1], [1.0, 2.0]])


def loss(p):
    return jnp.sum(jnp.arctan2(p[:, 1], p[:, 0]) ** 2) + jnp.sum(jnp.hypot(p[:, 0], p[:, 1]))


assert jnp.isfinite(jax.grad(loss)(points)).all()
