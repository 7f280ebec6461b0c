# expect: GT101
# cause: the importance weights are (40, 1) and the per-example losses (40,)
# wrong: float(weighted_loss(theta)) > 100.0
# cure: 1.0 / density -> 1.0 / density[:, 0]
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(3)
samples = rng.normal(size=(40, 1))
density = np.exp(-(samples**2) / 2) + 0.05
weights = 1.0 / density  # <- here
weights = weights / weights.sum()


def per_example(theta, x):
    return (theta - x) ** 2


def weighted_loss(theta):
    losses = jax.vmap(per_example, in_axes=(None, 0))(theta, samples[:, 0])
    return jnp.sum(weights * losses)  # <- here


theta = jnp.array(4.0)
g = jax.grad(weighted_loss)(theta)
print(weighted_loss(theta), g)
