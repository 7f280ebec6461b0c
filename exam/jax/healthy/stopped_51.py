"""Contrastive learning with a momentum encoder; keys are constants."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
a = jnp.asarray(rng.normal(size=(10, 6)))
b = a + 0.1 * jnp.asarray(rng.normal(size=(10, 6)))
W = jnp.asarray(rng.normal(size=(6, 3)))


def normalise(v):
    return v / jnp.sqrt(jnp.sum(v**2, axis=1, keepdims=True) + 1e-9)


def info_nce(W, W_slow):
    q, k = normalise(a @ W), jax.lax.stop_gradient(normalise(b @ W_slow))
    logits = q @ k.T / 0.2
    return -jnp.mean(jnp.diag(jax.nn.log_softmax(logits, axis=1)))


slow, values = W, []
for _ in range(10):
    value, g = jax.value_and_grad(info_nce)(W, slow)
    W, slow = W - 0.1 * g, 0.9 * slow + 0.1 * W
    values.append(float(value))
assert values[-1] < values[0]
