# expect: GT201 because GT209 or GT207
# cause: the number of mistakes is counted with argmax, which has no derivative
# wrong: not np.any(g)
# cure: jnp.mean(jnp.argmax(x @ w, axis=1) != labels) -> -jnp.mean(jax.nn.log_softmax(x @ w)[jnp.arange(9), labels])
import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(size=(9, 3)))
labels = jnp.array([0, 1, 2] * 3)


def error_rate(w):
    return jnp.mean(jnp.argmax(x @ w, axis=1) != labels)  # <- here


g = jax.grad(error_rate)(jnp.eye(3))  # <- asked
