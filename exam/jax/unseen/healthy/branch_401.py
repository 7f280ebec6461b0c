import jax
import jax.numpy as jnp
import numpy as np

centres = jnp.linspace(-2.0, 2.0, 9)
observed = jnp.array([0.0, 1.0, 3.0, 8.0, 9.0, 7.0, 2.0, 1.0, 0.0])


def deviance(theta):
    expected = jnp.exp(theta[0] + theta[1] * centres)
    expected = jnp.where(jnp.abs(centres) > 1.9, 0.0 * expected, expected)
    terms = jnp.where(
        observed > 0,
        observed * jnp.log(jnp.where(observed > 0, observed, 1.0) / jnp.where(observed > 0, expected, 1.0)),
        0.0,
    )
    return 2.0 * jnp.sum(terms - (observed - expected))


theta = jnp.array([0.5, 0.1])
value, gradient = jax.value_and_grad(deviance)(theta)
assert not (not np.all(np.isfinite(gradient)))
