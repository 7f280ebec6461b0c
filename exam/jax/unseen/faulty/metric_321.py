# expect: GT404 or GT201 or GT209 or GT207
# cause: the count of errors above a threshold is differentiated, which is flat
# wrong: not np.any(g)
# cure: jnp.sum(jnp.where(jnp.abs(residual) > 0.5, 1.0, 0.0)) -> jnp.sum(jnp.where(jnp.abs(residual) > 0.5, residual**2, 0.0))
import jax
import jax.numpy as jnp
import numpy as np

x = jnp.linspace(0.0, 3.0, 20)
y = jnp.exp(x) / 5.0


def loss(theta):
    residual = theta[0] * x + theta[1] - y
    return jnp.sum(jnp.where(jnp.abs(residual) > 0.5, 1.0, 0.0))  # <- here


theta = jnp.array([1.0, 0.0])
for _ in range(3):
    g = jax.jit(jax.grad(loss))(theta)  # <- asked
    theta = theta - 0.05 * g
