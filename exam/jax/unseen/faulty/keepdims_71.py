# expect: GT103
# cause: the mean of each row is subtracted along the columns of the square score matrix
# wrong: not np.allclose(centred(scores).mean(axis=1), 0.0, atol=1e-4)
# cure: jnp.mean(table, axis=1) -> jnp.mean(table, axis=1, keepdims=True)
import jax
import jax.numpy as jnp
import numpy as np

scores = jnp.asarray(np.random.default_rng(2).normal(size=(12, 12)) + np.arange(12.0)[:, None])


def centred(table):
    return table - jnp.mean(table, axis=1)  # <- here


@jax.jit
def spread(table):
    return jnp.sum(centred(table) ** 2) / table.size


gradient = jax.grad(spread)(scores)
print(gradient.shape)
