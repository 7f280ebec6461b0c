import jax
import jax.numpy as jnp

rewards = jnp.array([1.0, 0.0, 0.5])
features = jnp.linspace(0.0, 1.0, 6).reshape(3, 2)


def td_error(w):
    values = features @ w
    target = rewards + 0.9 * jax.lax.stop_gradient(values)
    return jnp.mean((values - target) ** 2)


g = jax.grad(td_error)(jnp.array([0.5, -0.5]))
assert bool(jnp.any(g))
