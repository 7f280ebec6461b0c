import jax
import jax.numpy as jnp


def loss(x, w):
    return jnp.sum((x @ w) ** 2)


x, w = jnp.ones((4, 3)), jnp.ones(3)
g = jax.grad(loss, argnums=1)(x, w)
assert g.shape == (3,)
