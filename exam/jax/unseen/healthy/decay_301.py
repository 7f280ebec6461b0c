import jax
import jax.numpy as jnp
import optax

x = jnp.linspace(-1.0, 1.0, 60).reshape(20, 3)
y = jnp.sin(x).sum(axis=1)
params = {"w": jnp.zeros(3)}
optimiser = optax.adamw(1e-2, weight_decay=1e-3)
state = optimiser.init(params)


@jax.jit
def step(params, state):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] - y) ** 2))(params)
    updates, state = optimiser.update(grads, state, params)
    return optax.apply_updates(params, updates), state


for _ in range(3):
    params, state = step(params, state)
assert bool(jnp.any(params["w"] != 0))
