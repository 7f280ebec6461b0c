# expect: GT115 or GT401
# cause: a token has the number 20, and the table has rows 0 to 19: jnp.take gives NaN for it
# wrong: not bool(np.all(np.isfinite(value)))
# cure: tokens = jnp.array([[3, 7, 20], [1, 0, 5]]) -> tokens = jnp.array([[3, 7, 19], [1, 0, 5]])
import jax
import jax.numpy as jnp
import numpy as np

table = 0.1 * jax.random.normal(jax.random.key(0), (20, 4))
tokens = jnp.array([[3, 7, 20], [1, 0, 5]])  # <- here
wanted = jnp.array([1.0, -1.0])


def loss(table):
    vectors = jnp.take(table, tokens, axis=0)  # <- here
    return jnp.mean((vectors.mean(axis=(1, 2)) - wanted) ** 2)


value, g = jax.value_and_grad(loss)(table)  # <- asked
