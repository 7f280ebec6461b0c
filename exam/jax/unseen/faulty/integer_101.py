# expect: GT310 or GT207
# cause: the tree of parameters has a counter of steps in it, which is an integer
# wrong: raises TypeError
# cure: "step": 0 -> "step": 0.0
import jax
import jax.numpy as jnp

params = {"w": jnp.ones(3), "step": 0}  # <- here
x = jnp.arange(12.0).reshape(4, 3)


def loss(p):
    return jnp.mean((x @ p["w"]) ** 2)


g = jax.grad(loss)(params)  # <- here
