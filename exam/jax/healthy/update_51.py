"""Momentum over a tree, a scan over the epochs, and a column meeting a column."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x, keys = rng.normal(size=(40, 2)), jax.random.split(jax.random.PRNGKey(0), 2)
y = (x[:, :1] * x[:, 1:]) ** 2
params = {"W1": jax.random.normal(keys[0], (2, 10)), "W2": jax.random.normal(keys[1], (10, 1)) * 0.3}


def loss(p):
    return jnp.mean((jnp.tanh(x @ p["W1"]) @ p["W2"] - y) ** 2)


def epoch(carry, _):
    p, m = carry
    value, g = jax.value_and_grad(loss)(p)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
    return (jax.tree.map(lambda p, m: p - 0.01 * m, p, m), m), value


(params, _), values = jax.lax.scan(epoch, (params, jax.tree.map(jnp.zeros_like, params)), None, length=50)
assert values[-1] < values[0]
