"""Soft k-means: softmax over the centres, and the M step divides by the sums over the points."""

import jax
import jax.numpy as jnp
import numpy as np

points = jnp.asarray(np.random.default_rng(0).normal(size=(25, 2)))
centres = jnp.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])


def assign(centres, axis):
    d2 = jnp.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=-1)
    return jax.nn.softmax(-d2, axis=axis)


def distortion(centres):
    fitted = assign(centres, 1) @ centres
    return jnp.mean(jnp.sum((points - fitted) ** 2, axis=1))


def slots(centres):
    share = assign(centres, 1)
    means = share.T @ points / share.sum(axis=0)[:, None]
    return jnp.sum((means - centres) ** 2)


before = distortion(centres)
centres = centres - 0.1 * jax.grad(distortion)(centres)
assert distortion(centres) < before
assert jnp.isfinite(jax.grad(slots)(centres)).all()
