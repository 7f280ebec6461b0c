import jax
import jax.numpy as jnp
import optax

x = jnp.linspace(-1.0, 1.0, 30).reshape(10, 3)
y = x.sum(axis=1)
params = {"w": jnp.zeros(3)}
optimiser = optax.adam(0.1)
state = optimiser.init(params)


def loss(params):
    return jnp.mean((x @ params["w"] - y) ** 2)


for _ in range(3):
    grads = jax.grad(loss)(params)
    updates, state = optimiser.update(grads, state, params)
    params = optax.apply_updates(params, updates)
assert bool(jnp.any(params["w"] != 0))
