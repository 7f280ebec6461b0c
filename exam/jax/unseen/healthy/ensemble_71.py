"""An ensemble by vmap over stacked parameters: axes of length 1 and tables on purpose."""

import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 15).reshape(15, 1)
y = x**2


def init(key):
    a, b = jax.random.split(key)
    return {"w": jax.random.normal(a, (1, 8)), "v": jax.random.normal(b, (8, 1)) * 0.3}


def loss(p):
    return jnp.mean((jnp.tanh(x @ p["w"]) @ p["v"] - y) ** 2)


members = jax.vmap(init)(jax.random.split(jax.random.PRNGKey(0), 4))
step = jax.jit(jax.vmap(lambda p: jax.tree.map(lambda a, g: a - 0.1 * g, p, jax.grad(loss)(p))))
before = jax.vmap(loss)(members)
for _ in range(5):
    members = step(members)
assert jnp.all(jax.vmap(loss)(members) < before)
