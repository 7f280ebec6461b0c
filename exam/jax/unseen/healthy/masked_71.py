"""Weight decay only for the matrices: optax.masked around add_decayed_weights, inside a chain."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x, y = jnp.asarray(rng.normal(size=(30, 3))), jnp.asarray(rng.normal(size=(30, 1)))
params = {"w": jnp.asarray(rng.normal(size=(3, 1))), "b": jnp.zeros(1)}
tx = optax.chain(optax.masked(optax.add_decayed_weights(0.1), {"w": True, "b": False}), optax.sgd(0.05))
state = tx.init(params)


@jax.jit
def step(params, state):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


losses = []
for _ in range(8):
    params, state, loss = step(params, state)
    losses.append(float(loss))
assert losses[-1] < losses[0]
