import jax
import jax.numpy as jnp
import numpy as np

queries = jax.random.normal(jax.random.key(0), (6, 4))
keys = jax.random.normal(jax.random.key(1), (9, 4))
values = jax.random.normal(jax.random.key(2), (9, 2))


def read(queries):
    weights = jax.nn.softmax(queries @ keys.T, axis=1)
    return jnp.mean((weights @ values - 1.0) ** 2), weights


(value, weights), g = jax.value_and_grad(read, has_aux=True)(queries)
assert not (not np.allclose(weights.sum(axis=1), 1.0, atol=1e-3))
