"""Clipping by the global norm, weight decay and a schedule."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
keys = jax.random.split(jax.random.PRNGKey(0), 2)
params = [jax.random.normal(keys[0], (2, 8)), jax.random.normal(keys[1], (8, 1))]


def loss(p):
    decay = sum(jnp.sum(w**2) for w in p)
    return jnp.mean((jnp.tanh(x @ p[0]) @ p[1] - y) ** 2) + 1e-3 * decay


@jax.jit
def step(p, lr):
    g = jax.grad(loss)(p)
    norm = jnp.sqrt(sum(jnp.sum(d**2) for d in g))
    scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    return [w - lr * scale * d for w, d in zip(p, g)]


before = float(loss(params))
for i in range(30):
    params = step(params, 0.1 * 0.95**i)
assert float(loss(params)) < before
