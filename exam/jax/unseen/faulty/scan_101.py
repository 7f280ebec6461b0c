# expect: GT306 or GT110 or GT314
# cause: the state of the scan begins as a number and becomes a vector in the first step
# wrong: raises TypeError
# cure: jax.lax.scan(cell, 0.0, xs) -> jax.lax.scan(cell, jnp.zeros(4), xs)
import jax
import jax.numpy as jnp

w = jnp.eye(4) * 0.5
xs = jnp.ones((6, 4))


def loss(w):
    def cell(state, x):
        return jnp.tanh(x @ w + state), None  # <- here

    state, _ = jax.lax.scan(cell, 0.0, xs)  # <- here
    return jnp.sum(state**2)


g = jax.grad(loss)(w)
