import jax
import jax.numpy as jnp

series = jnp.linspace(0.0, 1.0, 30)


def loss(level, n):
    window = series[:n]
    return jnp.mean((window - level) ** 2)


g = jax.grad(loss)(0.3, 5)
assert jnp.isfinite(g)
