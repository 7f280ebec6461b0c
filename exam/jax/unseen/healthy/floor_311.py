import jax
import jax.numpy as jnp
import numpy as np

demand = jnp.array([3.2, 4.7, 5.1])


def shortfall(price):
    revenue = (demand * price) / 1.0
    return jnp.sum((revenue - 10.0) ** 2)


price = jnp.array([1.5, 2.5, 0.5])
for _ in range(3):
    g = jax.grad(shortfall)(price)
    price = price - 0.01 * g
assert bool(jnp.any(g))
