"""The embedding table is frozen: stop_gradient on the parameter itself."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
params = {"table": jnp.asarray(rng.normal(size=(9, 4))), "out": jnp.zeros((4, 2))}
words, labels = jnp.asarray(rng.integers(0, 9, size=30)), jnp.asarray(rng.integers(0, 2, size=30))


def loss(p):
    vectors = jax.lax.stop_gradient(p["table"])[words]
    return -jnp.mean(jax.nn.log_softmax(vectors @ p["out"])[jnp.arange(30), labels])


g = jax.grad(loss)(params)
assert not np.any(g["table"])
assert np.any(g["out"])
