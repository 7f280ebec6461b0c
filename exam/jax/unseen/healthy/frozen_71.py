"""A pretrained body is frozen by multi_transform; its gradient is computed and set to zero."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(20, 4)))
y = jnp.asarray(rng.normal(size=(20, 1)))
params = {"body": jnp.asarray(rng.normal(size=(4, 6))), "head": jnp.zeros((6, 1))}
tx = optax.multi_transform(
    {"train": optax.sgd(0.1), "freeze": optax.set_to_zero()}, {"body": "freeze", "head": "train"}
)
state = tx.init(params)
before = params["body"]


@jax.jit
def step(params, state):
    grads = jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["body"]) @ p["head"] - y) ** 2))(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state


for _ in range(5):
    params, state = step(params, state)
assert np.array_equal(params["body"], before)
assert np.any(params["head"])
