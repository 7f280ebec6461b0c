"""A loss with the predictions beside it, and the number of right ones."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x, y = jnp.asarray(rng.normal(size=(20, 3))), jnp.asarray(rng.integers(0, 2, 20))


@jax.jit
def step(w):
    def loss_fn(w):
        logits = x @ w
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(20), y]), jnp.argmax(logits, axis=1)

    (loss, predicted), g = jax.value_and_grad(loss_fn, has_aux=True)(w)
    return w - 0.3 * g, loss, jnp.mean(predicted == y)


w = jnp.zeros((3, 2)) + 0.01 * jnp.arange(6.0).reshape(3, 2)
for _ in range(5):
    w, loss, accuracy = step(w)
assert 0 <= float(accuracy) <= 1
