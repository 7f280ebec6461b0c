# a model of which only the last layer is trained: filter_grad over a mask
import equinox as eqx
import jax
import jax.numpy as jnp

model = eqx.nn.MLP(3, 1, 8, 2, key=jax.random.key(0))
mask = jax.tree.map(lambda _: False, model)
mask = eqx.tree_at(lambda m: (m.layers[-1].weight, m.layers[-1].bias), mask, (True, True))
x = jax.random.normal(jax.random.key(1), (20, 3))
y = jnp.sum(x, axis=1, keepdims=True)


@eqx.filter_jit
def step(trained, fixed):
    @eqx.filter_value_and_grad
    def loss(trained):
        return jnp.mean((jax.vmap(eqx.combine(trained, fixed))(x) - y) ** 2)

    value, grads = loss(trained)
    return value, eqx.apply_updates(trained, jax.tree.map(lambda g: -0.05 * g, grads))


trained, fixed = eqx.partition(model, mask)
for _ in range(3):
    value, trained = step(trained, fixed)
assert jnp.isfinite(value)
