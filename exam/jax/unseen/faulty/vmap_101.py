# expect: GT110 or GT116 or GT306 or GT314
# cause: vmap maps over the weights as well, whose first axis is not that of the examples
# wrong: raises ValueError
# cure: jax.vmap(predict)(w, xs) -> jax.vmap(predict, (None, 0))(w, xs)
import jax
import jax.numpy as jnp

xs = jnp.ones((10, 3))
ys = jnp.zeros(10)


def predict(w, x):
    return jnp.dot(w, x)


def loss(w):
    return jnp.mean((jax.vmap(predict)(w, xs) - ys) ** 2)  # <- here


g = jax.grad(loss)(jnp.ones(3))
