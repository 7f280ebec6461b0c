# expect: GT201 because GT208
# cause: the whole prediction is behind stop_gradient, not only the target
# wrong: not np.any(g)
# cure: jax.lax.stop_gradient(value(w, s) - target) -> value(w, s) - jax.lax.stop_gradient(target)
import jax
import jax.numpy as jnp
import numpy as np

s, s2, r = jnp.linspace(0, 1, 6).reshape(3, 2), jnp.ones((3, 2)), jnp.array([1.0, 0.0, 2.0])


def value(w, s):
    return s @ w


def td_loss(w):
    target = r + 0.9 * value(w, s2)
    return jnp.mean(jax.lax.stop_gradient(value(w, s) - target) ** 2)  # <- here


g = jax.grad(td_loss)(jnp.array([0.5, -0.5]))  # <- asked
