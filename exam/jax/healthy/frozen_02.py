"""A linear probe: the features of a pretrained body are constants, and only the head learns."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x, y = jnp.asarray(rng.normal(size=(25, 5))), jnp.asarray(rng.normal(size=25))
params = {"body": jnp.asarray(rng.normal(size=(5, 7))), "head": jnp.zeros(7)}


def probe_loss(p):
    features = jax.lax.stop_gradient(jnp.tanh(x @ p["body"]))
    return jnp.mean((features @ p["head"] - y) ** 2)


body = params["body"]
for _ in range(4):
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, jax.jit(jax.grad(probe_loss))(params))
assert np.array_equal(params["body"], body)
assert np.any(params["head"])
