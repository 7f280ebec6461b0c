# expect: GT501
# cause: the weights of the mixture are normalised over the data points, not over the components
# wrong: not np.allclose(responsibilities(means).sum(axis=1), 1.0, atol=1e-4)
# cure: axis=0) -> axis=1)
import jax
import jax.numpy as jnp
import numpy as np

points = jnp.asarray(np.random.default_rng(0).normal(size=(25, 2)))
means = jnp.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])


def responsibilities(means):
    d2 = jnp.sum((points[:, None, :] - means[None, :, :]) ** 2, axis=-1)
    return jax.nn.softmax(-d2, axis=0)  # <- here


def distortion(means):
    fitted = responsibilities(means) @ means  # <- asked
    return jnp.mean(jnp.sum((points - fitted) ** 2, axis=1))


means = means - 0.1 * jax.grad(distortion)(means)
