# expect: GT210 or GT309 or GT312
# cause: traced values are written into an array of NumPy, which holds numbers only
# wrong: raises Exception
# cure: path = np.zeros(10) -> path = jnp.zeros(10)
# cure: path[i] = path[i - 1] + 0.1 * rate * (1.0 - path[i - 1])  # <- here -> path = path.at[i].set(path[i - 1] + 0.1 * rate * (1.0 - path[i - 1]))
import jax
import jax.numpy as jnp
import numpy as np


def final_gap(rate):
    path = np.zeros(10)
    for i in range(1, 10):
        path[i] = path[i - 1] + 0.1 * rate * (1.0 - path[i - 1])  # <- here
    return (path[-1] - 0.8) ** 2


g = jax.grad(final_gap)(0.5)  # <- asked
