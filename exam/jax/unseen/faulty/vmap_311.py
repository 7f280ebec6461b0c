# expect: GT314 or GT306 or GT110
# cause: in_axes has two entries, and the function is called with three arguments
# wrong: raises ValueError
# cure: in_axes=(None, 0)) -> in_axes=(None, 0, 0))
import jax
import jax.numpy as jnp

params = {"w": jnp.ones(3), "b": jnp.array(0.0)}
samples = jnp.linspace(0.0, 1.0, 15).reshape(5, 3)
targets = jnp.arange(5.0)


def error(params, sample, target):
    return (sample @ params["w"] + params["b"] - target) ** 2


def loss(params):
    return jax.vmap(error, in_axes=(None, 0))(params, samples, targets).mean()  # <- here


g = jax.grad(loss)(params)  # <- asked
