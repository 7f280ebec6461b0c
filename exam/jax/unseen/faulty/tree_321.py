# expect: GT306
# cause: the gradient is a dict like the parameters, and Python cannot subtract dicts
# wrong: raises TypeError
# cure: params - 0.1 * g -> jax.tree.map(lambda p, d: p - 0.1 * d, params, g)
import jax
import jax.numpy as jnp

ages = jnp.linspace(0.0, 1.0, 10)
prices = 2.0 - ages
params = {"m": jnp.array(0.0), "b": jnp.array(0.0)}


def loss(params):
    return jnp.mean((params["m"] * ages + params["b"] - prices) ** 2)


for _ in range(4):
    g = jax.grad(loss)(params)
    params = params - 0.1 * g  # <- here
