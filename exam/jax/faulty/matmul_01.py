# expect: GT111
# cause: under vmap each example is (3,), and the weights are (2, 3): the product wants them transposed
# wrong: raises TypeError
# cure: jnp.dot(x, W) -> jnp.dot(W, x)
import jax
import jax.numpy as jnp
import numpy as np

batch = np.random.default_rng(0).normal(size=(12, 3))
W = jnp.ones((2, 3)) * 0.1


def energy(W, x):
    z = jnp.dot(x, W)  # <- here
    return jnp.sum(jnp.tanh(z))


def total(W):
    return jnp.mean(jax.vmap(energy, in_axes=(None, 0))(W, batch))  # <- asked


g = jax.jit(jax.grad(total))(W)  # <- asked
