# expect: GT111 or GT110 or GT116
# cause: the layers of equinox take one example, and the model is called with the whole batch
# wrong: raises Exception
# cure: model(x) -> jax.vmap(model)(x)
import equinox as eqx
import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (32, 4))
y = jnp.sin(x).sum(axis=1, keepdims=True)
model = eqx.nn.MLP(4, 1, 16, 2, key=jax.random.key(1))


@eqx.filter_value_and_grad
def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)  # <- here


value, g = loss(model, x, y)  # <- asked
