import jax
import jax.numpy as jnp

points = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
classes = jnp.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0])


def hinge(weights):
    margins = 1.0 - classes * (points @ weights)
    return jnp.sum(jnp.maximum(margins, 0.0))


g = jax.grad(hinge)(jnp.zeros(4))
assert g.shape == (4,)
