# expect: GT103
# cause: the norm of each row divides the columns of a square embedding matrix
# wrong: not np.allclose(jnp.sum(normalise(E) ** 2, axis=1), 1.0, atol=1e-3)
# cure: jnp.sqrt(jnp.sum(E**2, axis=1)) -> jnp.sqrt(jnp.sum(E**2, axis=1, keepdims=True))
import jax
import jax.numpy as jnp
import numpy as np

E = jnp.asarray(np.random.default_rng(0).normal(size=(6, 6)) * np.arange(1, 7)[:, None])


def normalise(E):
    return E / jnp.sqrt(jnp.sum(E**2, axis=1))  # <- here


def spread(E):
    unit = normalise(E)
    return jnp.sum((unit @ unit.T - jnp.eye(6)) ** 2)


E = E - 0.01 * jax.grad(spread)(E)
