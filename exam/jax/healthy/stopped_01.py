"""A target network and a TD target with stop_gradient."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
s, s2, r = rng.normal(size=(16, 4)), rng.normal(size=(16, 4)), rng.random(16)
online = {"w": jnp.asarray(rng.normal(size=4))}
slow = jax.tree.map(lambda v: v, online)


def loss(p, slow):
    target = jax.lax.stop_gradient(r + 0.9 * jnp.tanh(s2 @ slow["w"]))
    return jnp.mean((jnp.tanh(s @ p["w"]) - target) ** 2)


for _ in range(5):
    g = jax.grad(loss)(online, slow)
    online = jax.tree.map(lambda p, g: p - 0.2 * g, online, g)
    slow = jax.tree.map(lambda a, b: 0.95 * a + 0.05 * b, slow, online)
assert np.any(g["w"])
assert not np.allclose(slow["w"], online["w"])
