"""Causal self-attention with a mask of -inf, softmax over the keys."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(0), 5)
params = {name: 0.4 * jax.random.normal(k, (8, 8)) for name, k in zip(("q", "k", "v", "o"), keys)}
x = jax.random.normal(keys[4], (3, 5, 8))


def attend(p, x):
    q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
    scores = jnp.einsum("bid,bjd->bij", q, k) / jnp.sqrt(8.0)
    mask = jnp.tril(jnp.ones((5, 5), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bij,bjd->bid", weights, v) @ p["o"]


def loss(p):
    return jnp.mean((attend(p, x)[:, :-1] - x[:, 1:]) ** 2)


g = jax.jit(jax.grad(loss))(params)
assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(g))
assert jnp.any(g["k"])
