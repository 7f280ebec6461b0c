import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(5), (18, 3))
y = jnp.prod(x, axis=1)
params = {"a": 0.1 * jax.random.normal(jax.random.key(6), (3, 7)), "c": jnp.ones(7)}


def squared_error(params, x, y):
    return (jnp.tanh(x @ params["a"]) @ params["c"] - y) ** 2


def loss(params):
    losses = jax.vmap(squared_error, in_axes=(None, 0, 0))(params, x, y)
    return losses.mean()


g = jax.grad(loss)(params)
assert True
