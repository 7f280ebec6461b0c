# expect: GT314 or GT310 or GT306
# cause: the tree of parameters has the name of the activation in it, which is no array
# wrong: raises TypeError
# cure: {"w": jnp.ones((3, 1)), "activation": "tanh"} -> {"w": jnp.ones((3, 1))}
import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 15).reshape(5, 3)
params = {"w": jnp.ones((3, 1)), "activation": "tanh"}  # <- here


def loss(params):
    return jnp.mean(jnp.tanh(x @ params["w"]) ** 2)


g = jax.grad(loss)(params)  # <- here
