# expect: GT401
# cause: the probability of a mixture is summed outside of logsumexp and underflows, so that its log is -inf
# wrong: not np.isfinite(float(value))
# cure: -jnp.sum(jnp.log(jnp.sum(weights * density, axis=1))) -> -jnp.sum(jax.scipy.special.logsumexp(jnp.log(weights) - 0.5 * squared / 0.01, axis=1))
import jax
import jax.numpy as jnp
import numpy as np

data = jnp.concatenate([jnp.linspace(-1.2, -0.8, 10), jnp.linspace(2.5, 9.0, 10)])


def negative_log_likelihood(means):
    squared = (data[:, None] - means[None, :]) ** 2
    weights = jnp.array([0.5, 0.5])
    density = jnp.exp(-0.5 * squared / 0.01)
    return -jnp.sum(jnp.log(jnp.sum(weights * density, axis=1)))  # <- here


value, gradient = jax.value_and_grad(negative_log_likelihood)(jnp.array([-1.0, 3.0]))  # <- asked
