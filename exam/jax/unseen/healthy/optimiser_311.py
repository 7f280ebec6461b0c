import equinox as eqx
import jax
import jax.numpy as jnp
import optax

model = eqx.nn.MLP(2, 1, 8, 1, key=jax.random.key(0))
start = model.layers[0].weight
x = jax.random.normal(jax.random.key(1), (16, 2))
y = jnp.prod(x, axis=1, keepdims=True)


def loss(model):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


optimiser = optax.adam(1e-2)
state = optimiser.init(eqx.filter(model, eqx.is_array))
for _ in range(3):
    grads = eqx.filter_grad(loss)(model)
    updates, state = optimiser.update(grads, state)
    model = eqx.apply_updates(model, updates)
assert bool(jnp.any(eqx.filter(model, eqx.is_array).layers[0].weight != start))
