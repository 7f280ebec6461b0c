# expect: GT501
# cause: log_softmax runs over the batch (axis 0), and the labels pick classes
# wrong: not np.allclose(jnp.exp(log_probs(W)).sum(axis=1), 1.0, atol=1e-4)
# cure: axis=0 -> axis=1
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(32, 5))
y = rng.integers(0, 4, size=32)
W = jnp.asarray(rng.normal(size=(5, 4)) * 0.1)


def log_probs(W):
    return jax.nn.log_softmax(X @ W, axis=0)  # <- here


def nll(W):
    return -jnp.mean(log_probs(W)[jnp.arange(32), y])


for _ in range(3):
    W = W - 0.5 * jax.grad(nll)(W)
