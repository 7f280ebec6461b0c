# expect: GT513
# cause: optax.masked leaves the gradient of the biases as it is, and apply_updates adds it: they climb
# wrong: float(jnp.abs(params["b"]).max()) > 0.5
# cure: optax.masked(optax.sgd(0.1), {"w": True, "b": False}) -> optax.multi_transform({"on": optax.sgd(0.1), "off": optax.set_to_zero()}, {"w": "on", "b": "off"})
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(30, 3)))
y = x @ jnp.array([[1.0], [2.0], [-1.0]]) + 0.5
params = {"w": jnp.zeros((3, 1)), "b": jnp.zeros(1)}
tx = optax.masked(optax.sgd(0.1), {"w": True, "b": False})  # <- here
state = tx.init(params)


@jax.jit
def step(params, state):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state  # <- here


for _ in range(5):
    params, state = step(params, state)
