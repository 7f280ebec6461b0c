import jax
import jax.numpy as jnp
import numpy as np

x = jnp.linspace(0.0, 3.0, 20)
y = jnp.exp(x) / 5.0


def loss(theta):
    residual = theta[0] * x + theta[1] - y
    return jnp.sum(jnp.where(jnp.abs(residual) > 0.5, residual**2, 0.0))


theta = jnp.array([1.0, 0.0])
for _ in range(3):
    g = jax.jit(jax.grad(loss))(theta)
    theta = theta - 0.05 * g
assert bool(jnp.any(g))
