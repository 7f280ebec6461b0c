"""Policy gradient: sampled actions and advantages are constants."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
states = jnp.asarray(rng.normal(size=(32, 3)))
advantages = jnp.asarray(rng.normal(size=32))
theta = jnp.asarray(rng.normal(size=(3, 2)) * 0.1)
actions = jax.random.categorical(jax.random.PRNGKey(0), states @ theta)


def surrogate(theta):
    log_p = jax.nn.log_softmax(states @ theta)[jnp.arange(32), actions]
    ratio = jnp.exp(log_p - jax.lax.stop_gradient(log_p))
    return -jnp.mean(jnp.minimum(ratio * advantages, jnp.clip(ratio, 0.8, 1.2) * advantages))


g = jax.grad(surrogate)(theta)
assert np.any(g)
