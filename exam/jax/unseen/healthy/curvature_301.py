import jax
import jax.numpy as jnp
import numpy as np

w1 = jax.random.normal(jax.random.key(0), (16,))
b1 = jax.random.normal(jax.random.key(1), (16,))
w2 = jax.random.normal(jax.random.key(2), (16,))
grid = jnp.linspace(0.0, 1.0, 21)


def u(params, x):
    w1, b1, w2 = params
    return jnp.tanh(x * w1 + b1) @ w2


def residual(params):
    u_xx = jax.vmap(jax.grad(jax.grad(u, argnums=1), argnums=1), in_axes=(None, 0))(params, grid)
    return jnp.mean((u_xx + jnp.sin(grid)) ** 2)


params = (w1, b1, w2)
for _ in range(3):
    g = jax.grad(residual)(params)
    params = jax.tree.map(lambda p, d: p - 0.01 * d, params, g)
assert bool(jnp.any(g[0]))
