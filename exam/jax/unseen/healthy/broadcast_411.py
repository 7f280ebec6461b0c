import jax
import jax.numpy as jnp

t = jnp.linspace(0.0, 1.0, 14)
observed = jnp.exp(-2.0 * t)
sigma = jnp.linspace(0.5, 1.5, 14)


def chi2(rate):
    z = (observed - jnp.exp(-rate * t)) / sigma
    return jnp.sum(z**2), z


(value, z), g = jax.value_and_grad(chi2, has_aux=True)(1.0)
assert not (z.shape != (14,))
