# expect: GT509
# cause: the sigmoid is applied before optax's sigmoid cross entropy
# wrong: float(loss(w)) > 0.5
# cure: jax.nn.sigmoid(x @ w) -> 30.0 * (x @ w)
import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jnp.asarray(np.random.default_rng(0).normal(size=(50, 2)))
y = (x[:, 0] > 0).astype(jnp.float32)


def loss(w):
    probability = jax.nn.sigmoid(x @ w)  # <- here
    return optax.sigmoid_binary_cross_entropy(probability, y).mean()  # <- here


w = jnp.array([1.0, 0.0])
g = jax.grad(loss)(w)
