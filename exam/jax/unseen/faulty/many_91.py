# expect: GT307
# cause: grad is taken of a function that returns one loss for each example
# wrong: raises TypeError
# cure: return (x @ w - y) ** 2 -> return jnp.mean((x @ w - y) ** 2)
import jax
import jax.numpy as jnp

x = jnp.arange(12.0).reshape(6, 2)
y = jnp.ones(6)


def loss(w):
    return (x @ w - y) ** 2  # <- here


g = jax.grad(loss)(jnp.zeros(2))  # <- here
