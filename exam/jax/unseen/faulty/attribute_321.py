# expect: GT314 or GT208
# cause: arrays of JAX have no detach: that is PyTorch's
# wrong: raises AttributeError
# cure: values.detach() -> jax.lax.stop_gradient(values)
import jax
import jax.numpy as jnp

rewards = jnp.array([1.0, 0.0, 0.5])
features = jnp.linspace(0.0, 1.0, 6).reshape(3, 2)


def td_error(w):
    values = features @ w
    target = rewards + 0.9 * values.detach()  # <- here
    return jnp.mean((values - target) ** 2)


g = jax.grad(td_error)(jnp.array([0.5, -0.5]))  # <- asked
