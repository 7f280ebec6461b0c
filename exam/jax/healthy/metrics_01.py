"""Accuracy by argmax as auxiliary output, and float() outside of the traced function."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, size=60)
W = jnp.asarray(rng.normal(size=(4, 3)) * 0.1)


def loss(W):
    logits = X @ W
    accuracy = jnp.mean(jnp.argmax(logits, axis=1) == y)
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(60), y]), accuracy


log = []
for _ in range(10):
    (value, accuracy), g = jax.value_and_grad(loss, has_aux=True)(W)
    W = W - 0.5 * g
    log.append((float(value), float(accuracy)))
assert log[-1][0] < log[0][0]
