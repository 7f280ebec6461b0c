import jax
import jax.numpy as jnp

inputs = jnp.linspace(0.0, 1.0, 30).reshape(10, 3)
targets = jnp.arange(10.0)


def loss(weights):
    return jnp.mean((inputs @ weights - targets) ** 2), inputs @ weights


weights = jnp.ones(3)
(value, predictions), g = jax.value_and_grad(loss, has_aux=True)(weights)
assert g.shape == (3,)
