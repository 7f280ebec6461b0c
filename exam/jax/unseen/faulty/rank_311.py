# expect: GT404 or GT201 or GT209 or GT207
# cause: the rank correlation is computed from positions that argsort gives, which have no derivative
# wrong: not np.any(g)
# cure: jnp.argsort(jnp.argsort(scores)).astype(jnp.float32) -> jnp.sum(jax.nn.sigmoid(scores[:, None] - scores), axis=1)
import jax
import jax.numpy as jnp
import numpy as np

features = jax.random.normal(jax.random.key(0), (12, 3))
relevance = jnp.arange(12.0)


def loss(weights):
    scores = features @ weights
    ranks = jnp.argsort(jnp.argsort(scores)).astype(jnp.float32)  # <- here
    return jnp.mean((ranks - relevance) ** 2)


weights = jnp.array([0.1, 0.2, -0.1])
for _ in range(3):
    value, g = jax.value_and_grad(loss)(weights)  # <- asked
    weights = weights - 0.1 * g
