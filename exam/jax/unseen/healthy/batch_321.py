import equinox as eqx
import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (32, 4))
y = jnp.sin(x).sum(axis=1, keepdims=True)
model = eqx.nn.MLP(4, 1, 16, 2, key=jax.random.key(1))


@eqx.filter_value_and_grad
def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


value, g = loss(model, x, y)
assert bool(jnp.any(g.layers[0].weight))
