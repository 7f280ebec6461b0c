"""Fine-tuning: only the head's parameters are differentiated, by argnums."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x, y = rng.normal(size=(30, 5)), rng.normal(size=(30, 1))
body, head = jnp.asarray(rng.normal(size=(5, 6))), jnp.zeros((6, 1))


def loss(head, body):
    return jnp.mean((jnp.tanh(x @ body) @ head - y) ** 2)


values = []
for _ in range(20):
    value, g = jax.value_and_grad(loss, argnums=0)(head, body)
    head = head - 0.1 * g
    values.append(float(value))
assert values[-1] < values[0]
