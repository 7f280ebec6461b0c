import jax
import jax.numpy as jnp
import numpy as np

depth = jnp.linspace(0.1, 2.0, 10)
flow = depth**1.5


def loss(w):
    model = jnp.maximum(depth - w[1], 0.01) ** w[0]
    return jnp.sum((model - flow) ** 2)


value, g = jax.jit(jax.value_and_grad(loss))(jnp.array([1.3, 0.5]))
assert bool(jnp.all(jnp.isfinite(g)))
