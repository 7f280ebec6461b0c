"""Causal attention with minus infinity in the mask."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(size=(6, 4)))
params = {name: jnp.eye(4) * 0.5 for name in ("q", "k", "v")}


def loss(p):
    scores = (x @ p["q"]) @ (x @ p["k"]).T / 2.0
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -jnp.inf)
    return jnp.mean((jax.nn.softmax(scores, axis=-1) @ (x @ p["v"]) - x) ** 2)


g = jax.grad(loss)(params)
assert all(np.isfinite(v).all() for v in g.values())
