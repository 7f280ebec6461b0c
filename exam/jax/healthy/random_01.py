"""Dropout with keys that are split: zero gradients where units are dropped."""

import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.PRNGKey(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(16, 4))
y = x[:, :1] ** 2
w1 = jnp.asarray(rng.normal(size=(4, 8)) * 0.5)
w2 = jnp.asarray(rng.normal(size=(8, 1)) * 0.5)


def loss(params, key):
    h = jax.nn.relu(x @ params[0])
    keep = jax.random.bernoulli(key, 0.8, h.shape)
    return jnp.mean((jnp.where(keep, h / 0.8, 0.0) @ params[1] - y) ** 2)


step = jax.jit(jax.value_and_grad(loss))
params, values = [w1, w2], []
for _ in range(20):
    key, sub = jax.random.split(key)
    value, g = step(params, sub)
    params = [p - 0.05 * d for p, d in zip(params, g)]
    values.append(float(value))
assert values[-1] < values[0]
