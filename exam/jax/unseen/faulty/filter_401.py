# expect: GT512 or GT513 or GT404 or GT201 or GT202 or GT208
# cause: the model is split the wrong way round: the static part holds the arrays, which are closed over and get no gradient
# wrong: np.array_equal(start, model.layers[0].weight)
# cure: static, params = eqx.partition(model, eqx.is_array) -> params, static = eqx.partition(model, eqx.is_array)
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

model = eqx.nn.MLP(3, 1, 8, 1, key=jax.random.key(0))
start = model.layers[0].weight
x = jax.random.normal(jax.random.key(1), (20, 3))
y = jnp.sum(x, axis=1, keepdims=True)
static, params = eqx.partition(model, eqx.is_array)  # <- here


@eqx.filter_jit
def step(params):
    def loss(params):
        return jnp.mean((jax.vmap(eqx.combine(params, static))(x) - y) ** 2)

    value, grads = eqx.filter_value_and_grad(loss)(params)  # <- here
    return eqx.apply_updates(params, jax.tree.map(lambda g: -0.05 * g, grads)), value


for _ in range(3):
    params, value = step(params)  # <- asked
model = eqx.combine(params, static)
