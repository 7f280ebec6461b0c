# expect: GT307
# cause: the log-likelihood of each observation is returned, not their sum
# wrong: raises TypeError
# cure: return -0.5 * z**2 - log_sigma -> return jnp.sum(-0.5 * z**2 - log_sigma)
import jax
import jax.numpy as jnp
import numpy as np

data = np.random.default_rng(0).normal(3.0, 2.0, size=50)


def log_likelihood(params):
    mu, log_sigma = params
    z = (data - mu) / jnp.exp(log_sigma)
    return -0.5 * z**2 - log_sigma  # <- here


value_and_grad = jax.jit(jax.value_and_grad(log_likelihood))
value, score = value_and_grad(jnp.array([0.0, 0.0]))  # <- here
