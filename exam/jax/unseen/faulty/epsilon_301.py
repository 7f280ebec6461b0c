# expect: GT402 or GT405 or GT403
# cause: 1e-50 is zero in single precision, so the square root at zero is not kept from its infinite slope
# wrong: not bool(np.all(np.isfinite(g)))
# cure: 1e-50 -> 1e-12
import jax
import jax.numpy as jnp
import numpy as np


def total_variation(image):
    dx = image[1:, :-1] - image[:-1, :-1]
    dy = image[:-1, 1:] - image[:-1, :-1]
    return jnp.sum(jnp.sqrt(dx**2 + dy**2 + 1e-50))  # <- here


image = jnp.zeros((6, 6)).at[2:4, 2:4].set(1.0)
g = jax.jit(jax.grad(total_variation))(image)  # <- asked
