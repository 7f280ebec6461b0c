# expect: GT110
# cause: np.diff shortens the series by one, and the drift is added to all 50 prices
# wrong: raises TypeError
# cure: returns - drift * prices -> returns - drift * prices[:-1]
import jax
import jax.numpy as jnp
import numpy as np

prices = jnp.asarray(100 + np.random.default_rng(1).normal(size=50).cumsum())


def log_likelihood(theta):
    drift, log_sigma = theta
    returns = jnp.diff(prices)
    z = (returns - drift * prices) / jnp.exp(log_sigma)  # <- here
    return -0.5 * jnp.sum(z**2) - 49 * log_sigma


step = jax.jit(lambda theta: theta + 1e-4 * jax.grad(log_likelihood)(theta))
theta = jnp.array([0.0, 0.0])
for _ in range(3):
    theta = step(theta)
