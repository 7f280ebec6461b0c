# expect: GT115 or GT118
# cause: the labels run from 1 to 5, and the classes are numbered from 0: the index 5 is moved to the last class
# wrong: int(labels.max()) == 5
# cure: digits % 5 + 1 -> digits % 5
import jax
import jax.numpy as jnp

digits = jnp.arange(40)
labels = digits % 5 + 1  # <- here
pixels = jax.random.normal(jax.random.key(0), (40, 8))


def loss(weights):
    scores = jax.nn.log_softmax(pixels @ weights, axis=-1)
    return -jnp.mean(scores[jnp.arange(40), labels])  # <- here


weights = jnp.zeros((8, 5))
for _ in range(3):
    g = jax.jit(jax.grad(loss))(weights)  # <- asked
    weights = weights - 0.1 * g
