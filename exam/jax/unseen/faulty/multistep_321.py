# expect: GT404 or GT202 or GT201 or GT209
# cause: the weight of the penalty is int(0.5), which is 0, so that nothing is left of the loss
# wrong: not np.any(g)
# cure: weight = int(0.5) -> weight = 0.5
import jax
import jax.numpy as jnp
import numpy as np

coordinates = jnp.linspace(0.0, 1.0, 12)
weight = int(0.5)


def loss(w):
    curve = jnp.sin(w[0] * coordinates) + w[1]
    return weight * jnp.sum((curve - coordinates) ** 2)  # <- here


w = jnp.array([0.0, 0.0])
for _ in range(3):
    g = jax.grad(loss)(w)  # <- asked
    w = w - 0.1 * g
