"""optax with a schedule and a chain; the loss is a column against a column."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(40, 3)))
y = x @ jnp.array([[1.0], [-1.0], [0.5]])
params = {"w": jnp.zeros((3, 1)), "b": jnp.zeros((1,))}
tx = optax.chain(optax.clip(1.0), optax.adam(optax.exponential_decay(0.1, 10, 0.9)))
state = tx.init(params)


@jax.jit
def step(params, state):
    value, grads = jax.value_and_grad(lambda p: optax.l2_loss(x @ p["w"] + p["b"], y).mean())(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


values = []
for _ in range(8):
    params, state, value = step(params, state)
    values.append(float(value))
assert values[-1] < values[0]
