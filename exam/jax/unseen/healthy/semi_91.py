"""Temporal differences: the gradient of the target is stopped, as the method says."""

import jax
import jax.numpy as jnp

s, s2, r = jnp.eye(4)[:3], jnp.eye(4)[1:], jnp.array([0.0, 0.0, 1.0])


def td_loss(w):
    target = jax.lax.stop_gradient(r + 0.9 * (s2 @ w))
    return jnp.mean((s @ w - target) ** 2)


w = jnp.zeros(4)
for _ in range(5):
    w = w - 0.5 * jax.grad(td_loss)(w)
assert float(w[2]) > 0
