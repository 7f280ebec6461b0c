# expect: GT404 or GT201 or GT209
# cause: counting the points inside by a comparison has no slope
# wrong: g == 0.0
# cure: jnp.where(distance < radius, 1.0, 0.0) -> jax.nn.sigmoid((radius - distance) / 0.05)
import jax
import jax.numpy as jnp
import numpy as np

points = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, size=(200, 2)))


def share_inside(radius):
    distance = jnp.sqrt(jnp.sum(points**2, axis=1))
    inside = jnp.where(distance < radius, 1.0, 0.0)  # <- here
    return jnp.mean(inside)


g = jax.grad(lambda r: (share_inside(r) - 0.5) ** 2)(0.6)  # <- asked
print(g)
