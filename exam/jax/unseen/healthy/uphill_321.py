import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(2), (40, 3))
y = x @ jnp.array([0.5, -1.0, 2.0])


@jax.jit
def loss(w):
    return jnp.mean((x @ w - y) ** 2)


w = jnp.zeros(3)
first = float(loss(w))
for _ in range(8):
    g = jax.grad(loss)(w)
    w = w - 0.02 * g
assert float(loss(w)) < first
