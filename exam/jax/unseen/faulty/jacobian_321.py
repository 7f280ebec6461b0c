# expect: GT111 or GT110 or GT314 or GT306
# cause: jacfwd of a loss by a dict gives a dict, and solve takes a matrix
# wrong: raises Exception
# cure: params = {"c": jnp.array([0.5, 0.1, 0.2])} -> params = jnp.array([0.5, 0.1, 0.2])
# cure: params["c"][0] + params["c"][1] * t + params["c"][2] * t**2 -> params[0] + params[1] * t + params[2] * t**2
import jax
import jax.numpy as jnp

t = jnp.linspace(0.0, 1.0, 15)
heights = 1.0 + 2.0 * t - 0.5 * t**2


def loss(params):
    curve = params["c"][0] + params["c"][1] * t + params["c"][2] * t**2
    return jnp.sum((curve - heights) ** 2)


params = {"c": jnp.array([0.5, 0.1, 0.2])}
g = jax.grad(loss)(params)
h = jax.hessian(loss)(params)
step = jnp.linalg.solve(h, g)  # <- here
