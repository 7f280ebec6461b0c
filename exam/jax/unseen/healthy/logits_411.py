import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (15, 4))
tags = (jax.random.uniform(jax.random.key(1), (15, 3)) < 0.4).astype(jnp.float32)


def loss(w):
    scores = x @ w
    terms = tags * jax.nn.log_sigmoid(scores) + (1.0 - tags) * jax.nn.log_sigmoid(-scores)
    return -jnp.mean(terms), scores


(value, scores), g = jax.value_and_grad(loss, has_aux=True)(jnp.ones((4, 3)) * 0.1)
assert not (np.allclose(scores.sum(axis=1), 1.0, atol=1e-3))
