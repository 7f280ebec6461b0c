# expect: GT101
# cause: the forgetting factors were saved as a column, and the squared errors are a vector
# wrong: weighted.shape != (30,)
# cure: decay ** ages.reshape(-1, 1) -> decay**ages
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(11)
signal = jnp.asarray(rng.normal(size=30))
lagged = jnp.stack([jnp.roll(signal, k) for k in (1, 2)], axis=1)
ages = jnp.arange(30)[::-1]
decay = 0.95
importance = decay ** ages.reshape(-1, 1)  # <- here


def weighted_error(coefficients):
    prediction = lagged @ coefficients
    return importance * (signal - prediction) ** 2  # <- here


slope = jax.grad(lambda c: weighted_error(c).sum())
coefficients = jnp.zeros(2)
for _ in range(4):
    coefficients = coefficients - 0.001 * slope(coefficients)
weighted = weighted_error(coefficients)
