# expect: GT306 or GT311 or GT307
# cause: the function returns the loss and the predictions, and grad was not told has_aux
# wrong: raises TypeError
# cure: jax.value_and_grad(loss_fn) -> jax.value_and_grad(loss_fn, has_aux=True)
import jax
import jax.numpy as jnp

x, y = jnp.ones((5, 2)), jnp.zeros(5)


def loss_fn(params):
    prediction = x @ params["w"] + params["b"]
    return jnp.mean((prediction - y) ** 2), prediction  # <- here


out, grads = jax.value_and_grad(loss_fn)({"w": jnp.ones(2), "b": 0.0})  # <- here
