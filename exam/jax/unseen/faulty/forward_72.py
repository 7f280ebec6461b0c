# expect: GT401
# cause: the standard deviation of one sample with ddof=1 divides by zero
# wrong: not np.isfinite(float(value))
# cure: ddof=1 -> ddof=0
import jax
import jax.numpy as jnp
import numpy as np

groups = [np.array([1.0, 2.0, 4.0]), np.array([3.0]), np.array([2.0, 2.5])]


def pooled_score(shift):
    total = 0.0
    for group in groups:
        moved = jnp.asarray(group) + shift
        total = total + jnp.mean(moved) / (1.0 + jnp.var(moved, ddof=1))  # <- here
    return total


value, slope = jax.value_and_grad(pooled_score)(0.5)
print(value, slope)
