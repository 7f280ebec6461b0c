# expect: GT118 or GT110
# cause: one_hot was made for 4 classes and the network has 3
# wrong: raises TypeError
# cure: jax.nn.one_hot(y, 4) -> jax.nn.one_hot(y, 3)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 5)), rng.integers(0, 3, size=20)
targets = jax.nn.one_hot(y, 4)  # <- here
W = jnp.zeros((5, 3))


def cross_entropy(W):
    log_probs = jax.nn.log_softmax(X @ W)
    return -jnp.mean(jnp.sum(targets * log_probs, axis=1))  # <- here


g = jax.grad(cross_entropy)(W)  # <- asked
