import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (24, 4))
y = x @ jnp.arange(4.0)


def loss(x, w, y):
    return jnp.mean((x @ w - y) ** 2)


gradient = jax.grad(loss, argnums=1)
w = jnp.zeros(4)
for _ in range(3):
    g = gradient(x, w, y)
    w = w - 0.1 * g
assert w.shape == (4,)
