# expect: GT210
# cause: a function of NumPy is given a traced array
# wrong: raises Exception
# cure: np.convolve -> jnp.convolve
import jax
import jax.numpy as jnp
import numpy as np

kernel = jnp.array([0.25, 0.5, 0.25])


@jax.jit
def smooth(signal):
    return np.convolve(signal, kernel, mode="same")  # <- here


print(smooth(jnp.arange(8.0)))  # <- asked
