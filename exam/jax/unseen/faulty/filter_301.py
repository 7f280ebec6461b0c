# expect: GT314 or GT310 or GT306
# cause: the model has functions among its leaves, and jax.grad takes arrays only
# wrong: raises TypeError
# cure: jax.grad(loss)(model, x, y) -> eqx.filter_grad(loss)(model, x, y)
import equinox as eqx
import jax
import jax.numpy as jnp

model = eqx.nn.MLP(in_size=3, out_size=1, width_size=8, depth=2, key=jax.random.key(0))
x = jax.random.normal(jax.random.key(1), (20, 3))
y = jnp.sum(x, axis=1, keepdims=True)


def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


g = jax.grad(loss)(model, x, y)  # <- here
