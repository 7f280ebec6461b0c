# expect: GT310 or GT207
# cause: the initial parameters are a NumPy array of integers
# wrong: raises TypeError
# cure: np.array([1, -1, 2]) -> np.array([1.0, -1.0, 2.0])
import jax
import jax.numpy as jnp
import numpy as np

start = np.array([1, -1, 2])  # <- here


def sphere(p):
    return jnp.sum(p**2)


def descend(p, steps=5, rate=0.1):
    for _ in range(steps):
        p = p - rate * jax.grad(sphere)(p)  # <- here
    return p


print(descend(start))  # <- asked
