# expect: GT314 or GT306 or GT310
# cause: the optimiser is made for the whole model, whose activation functions are no arrays
# wrong: raises TypeError
# cure: optimiser.init(model) -> optimiser.init(eqx.filter(model, eqx.is_array))
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
state = optimiser.init(model)  # <- here
for _ in range(3):
    grads = eqx.filter_grad(loss)(model)
    updates, state = optimiser.update(grads, state)
    model = eqx.apply_updates(model, updates)
