# expect: GT207 or GT311 or GT310 or GT314 or GT307
# cause: the function returns a count, which is an integer and has no derivative
# wrong: raises TypeError
# cure: jnp.sum(scores > 0) -> jnp.sum(jax.nn.sigmoid(scores))
import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)


def hits(w):
    scores = x @ w
    return jnp.sum(scores > 0)  # <- here


g = jax.grad(hits)(jnp.ones(3))  # <- here
