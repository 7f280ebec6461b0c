"""Clipping of the cotangent by custom_vjp: not the derivative, and meant."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def clip_gradient(x):
    return x


clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1.0, 1.0),))


def loss(x):
    return jnp.sum(100.0 * clip_gradient(x) ** 2)


g = jax.grad(loss)(jnp.array([1.0, -2.0, 0.001]))
assert np.allclose(g, [1.0, -1.0, 0.2])
