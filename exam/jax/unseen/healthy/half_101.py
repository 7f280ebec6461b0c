"""bfloat16 in the layer, float32 in the loss."""

import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (30, 4))


def loss(w):
    out = x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)
    return jnp.mean((out.astype(jnp.float32) - 1) ** 2)


w = jnp.zeros((4, 1))
for _ in range(5):
    w = w - 0.1 * jax.grad(loss)(w)
assert jnp.isfinite(w).all()
