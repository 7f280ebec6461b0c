import jax
import jax.numpy as jnp

t = jnp.linspace(0.0, 1.0, 15)
heights = 1.0 + 2.0 * t - 0.5 * t**2


def loss(params):
    curve = params[0] + params[1] * t + params[2] * t**2
    return jnp.sum((curve - heights) ** 2)


params = jnp.array([0.5, 0.1, 0.2])
g = jax.grad(loss)(params)
h = jax.hessian(loss)(params)
step = jnp.linalg.solve(h, g)
assert step.shape == (3,)
