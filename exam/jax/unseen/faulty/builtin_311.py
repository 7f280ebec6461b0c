# expect: GT210 or GT312 or GT314 or GT110
# cause: the built-in max compares whole arrays, whose truth is not one value
# wrong: raises ValueError
# cure: max(margins, 0.0) -> jnp.maximum(margins, 0.0)
import jax
import jax.numpy as jnp

points = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
classes = jnp.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0])


def hinge(weights):
    margins = 1.0 - classes * (points @ weights)
    return jnp.sum(max(margins, 0.0))  # <- here


g = jax.grad(hinge)(jnp.zeros(4))  # <- asked
