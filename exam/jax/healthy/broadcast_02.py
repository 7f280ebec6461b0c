"""Layer normalisation and a bias: rows against one row, with keepdims."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(2.0, 3.0, size=(8, 8)))


def loss(params):
    centred = x - x.mean(axis=1, keepdims=True)
    normed = centred / jnp.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-6)
    return jnp.mean(jax.nn.gelu(normed * params["scale"] + params["shift"]))


g = jax.grad(loss)({"scale": jnp.ones(8), "shift": jnp.zeros(8)})
assert g["scale"].shape == (8,)
assert np.any(g["scale"])
