# expect: GT110 or GT116 or GT306 or GT314 or GT111
# cause: in_axes says that the parameters have an axis of examples, and they have none
# wrong: raises Exception
# cure: in_axes=(0, 0, 0) -> in_axes=(None, 0, 0)
import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(5), (18, 3))
y = jnp.prod(x, axis=1)
params = {"a": 0.1 * jax.random.normal(jax.random.key(6), (3, 7)), "c": jnp.ones(7)}


def squared_error(params, x, y):
    return (jnp.tanh(x @ params["a"]) @ params["c"] - y) ** 2


def loss(params):
    losses = jax.vmap(squared_error, in_axes=(0, 0, 0))(params, x, y)  # <- here
    return losses.mean()


g = jax.grad(loss)(params)  # <- asked
