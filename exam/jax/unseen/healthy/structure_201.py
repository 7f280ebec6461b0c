import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 15).reshape(5, 3)
params = {"w": jnp.ones((3, 1))}


def loss(params):
    return jnp.mean(jnp.tanh(x @ params["w"]) ** 2)


g = jax.grad(loss)(params)
assert g["w"].shape == (3, 1)
