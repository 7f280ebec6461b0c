"""One-hot labels with smoothing for optax's cross entropy, and per-class weights."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(36, 4)))
y = jnp.asarray(rng.integers(0, 3, size=36))
weight = jnp.array([1.0, 2.0, 0.5])


def loss(w):
    target = optax.smooth_labels(jax.nn.one_hot(y, 3), 0.1)
    each = optax.softmax_cross_entropy(x @ w, target)
    return jnp.sum(each * weight[y]) / jnp.sum(weight[y])


w = jnp.zeros((4, 3))
first = loss(w)
for _ in range(5):
    w = w - 0.5 * jax.grad(loss)(w)
assert loss(w) < first
