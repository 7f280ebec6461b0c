import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)


def hits(w):
    scores = x @ w
    return jnp.sum(jax.nn.sigmoid(scores))


g = jax.grad(hits)(jnp.ones(3))
assert g.shape == (3,)
