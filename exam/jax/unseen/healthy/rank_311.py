import jax
import jax.numpy as jnp
import numpy as np

features = jax.random.normal(jax.random.key(0), (12, 3))
relevance = jnp.arange(12.0)


def loss(weights):
    scores = features @ weights
    ranks = jnp.sum(jax.nn.sigmoid(scores[:, None] - scores), axis=1)
    return jnp.mean((ranks - relevance) ** 2)


weights = jnp.array([0.1, 0.2, -0.1])
for _ in range(3):
    value, g = jax.value_and_grad(loss)(weights)
    weights = weights - 0.1 * g
assert bool(jnp.any(g))
