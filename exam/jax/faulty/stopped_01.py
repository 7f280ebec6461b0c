# expect: GT201 or GT404 because GT208
# cause: the predictions, not the targets, are taken out of the gradient
# wrong: not np.any(g)
# cure: jax.lax.stop_gradient(value(theta, s)) - target -> value(theta, s) - jax.lax.stop_gradient(target)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
s, s_next, reward = rng.normal(size=(10, 4)), rng.normal(size=(10, 4)), rng.random(10)


def value(theta, s):
    return jnp.tanh(s @ theta)


def td_error(theta, slow_theta):
    target = reward + 0.9 * value(slow_theta, s_next)
    return jnp.mean((jax.lax.stop_gradient(value(theta, s)) - target) ** 2)  # <- here


theta = jnp.ones(4) * 0.1
g = jax.grad(td_error)(theta, theta)  # <- asked
print(g)
