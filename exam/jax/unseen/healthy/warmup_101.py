"""The body keeps its first value for 20 steps and is trained for 20 more."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.key(0), 3)
x, y = jax.random.normal(keys[0], (30, 4)), jnp.ones((30, 1))
params = {"body": jax.random.normal(keys[1], (4, 6)), "head": 0.1 * jax.random.normal(keys[2], (6, 1))}
start = params["body"]


def loss(p):
    return jnp.mean((jnp.tanh(x @ p["body"]) @ p["head"] - y) ** 2)


for step in range(40):
    grads = jax.grad(loss)(params)
    params = {**params, "head": params["head"] - 0.1 * grads["head"]}
    if step >= 20:
        params = {**params, "body": params["body"] - 0.1 * grads["body"]}
assert not jnp.array_equal(start, params["body"])
