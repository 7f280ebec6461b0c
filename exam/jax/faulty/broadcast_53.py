# expect: GT101
# cause: log-probabilities (24, 1) of the gathered actions are multiplied with advantages (24,)
# wrong: abs(float(surrogate(theta)) - expected) > 1e-4
# cure: jnp.take_along_axis(logp, actions[:, None], axis=1) -> jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(5)
obs = rng.normal(size=(24, 4))
actions = rng.integers(0, 3, size=24)
advantages = rng.normal(size=24)
theta = jnp.asarray(rng.normal(size=(4, 3)))
logp0 = np.asarray(jax.nn.log_softmax(obs @ theta))
expected = float(-np.mean(logp0[np.arange(24), actions] * advantages))


def surrogate(theta):
    logp = jax.nn.log_softmax(obs @ theta)
    chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)  # <- here
    return -jnp.mean(chosen * advantages)  # <- here


g = jax.jit(jax.grad(surrogate))(theta)
