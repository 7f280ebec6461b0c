"""Padded sequences: a mask multiplies the losses, and the sum is divided by the number of real tokens."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
tokens = rng.integers(1, 6, size=(3, 5))
lengths = np.array([5, 2, 3])
mask = (np.arange(5) < lengths[:, None]).astype(float)
params = {"embed": jnp.asarray(rng.normal(size=(6, 4))), "out": jnp.asarray(rng.normal(size=(4, 6)))}


def loss(p):
    log_p = jax.nn.log_softmax(p["embed"][tokens] @ p["out"], axis=-1)
    picked = jnp.take_along_axis(log_p, tokens[..., None], axis=-1)[..., 0]
    return -jnp.sum(picked * mask) / mask.sum()


g = jax.grad(loss)(params)
assert not np.any(g["embed"][0])
assert np.any(g["out"])
