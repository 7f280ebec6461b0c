import jax
import jax.numpy as jnp
import numpy as np

features = jax.random.normal(jax.random.key(0), (20, 3))
wanted = features[:, 0]
params = {"gain": jnp.ones(3), "w": 0.1 * jnp.ones(3)}


def loss(params):
    output = jnp.sin(features @ params["gain"])
    output = output + jnp.tanh(features @ params["w"])
    return jnp.mean((output - wanted) ** 2)


for _ in range(4):
    g = jax.grad(loss)(params)
    params = jax.tree.map(lambda p, d: p - 0.1 * d, params, g)
assert bool(jnp.any(g["gain"]))
