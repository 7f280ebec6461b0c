# expect: GT314 or GT311 or GT313
# cause: the argument that grad is taken by is given by its name, and argnums counts positions
# wrong: raises TypeError
# cure: (x, w=w) -> (x, w)
import jax
import jax.numpy as jnp


def loss(x, w):
    return jnp.sum((x @ w) ** 2)


x, w = jnp.ones((4, 3)), jnp.ones(3)
g = jax.grad(loss, argnums=1)(x, w=w)  # <- here
