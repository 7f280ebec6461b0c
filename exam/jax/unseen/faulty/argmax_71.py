# expect: GT404 or GT201 or GT209
# cause: the accuracy of the rounded predictions is maximised; it has no slope
# wrong: not np.any(g)
# cure: jnp.round(jax.nn.sigmoid(samples @ w)) -> jax.nn.sigmoid(samples @ w)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
samples = jnp.asarray(rng.normal(size=(60, 2)))
truth = jnp.asarray((rng.random(60) > 0.5).astype(np.float32))


def error_rate(w):
    decided = jnp.round(jax.nn.sigmoid(samples @ w))  # <- here
    return jnp.mean(jnp.abs(decided - truth))


w = jnp.array([0.3, -0.2])
for _ in range(3):
    g = jax.jit(jax.grad(error_rate))(w)  # <- asked
    w = w - 0.1 * g
