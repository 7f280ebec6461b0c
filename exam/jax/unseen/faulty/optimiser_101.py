# expect: GT306 or GT311 or GT110 or GT314
# cause: value_and_grad gives the value first and the gradient second, and they are taken the other way round
# wrong: raises Exception
# cure: grads, loss = jax -> loss, grads = jax
import jax
import jax.numpy as jnp

x = jnp.arange(12.0).reshape(4, 3)
params = {"w": jnp.ones(3), "b": jnp.zeros(())}


def loss_of(p):
    return jnp.mean((x @ p["w"] + p["b"]) ** 2)


for _ in range(2):
    grads, loss = jax.value_and_grad(loss_of)(params)  # <- here
    params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)  # <- here
