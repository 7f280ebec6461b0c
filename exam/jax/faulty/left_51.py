# expect: GT210 or GT312
# cause: a NumPy function was called on a traced array
# wrong: raises TracerArrayConversionError
# cure: np.convolve(signal, kernel, mode="valid") -> jnp.convolve(signal, kernel, mode="valid")
import jax
import jax.numpy as jnp
import numpy as np

signal = np.sin(np.arange(30) / 3.0)
target = np.cos(np.arange(28) / 3.0)


def smooth(kernel):
    return np.convolve(signal, kernel, mode="valid")  # <- here


def loss(kernel):
    return jnp.sum((smooth(kernel) - target) ** 2)  # <- asked


kernel = jnp.array([0.2, 0.5, 0.3])
print(jax.grad(loss)(kernel))  # <- asked
